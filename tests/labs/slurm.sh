#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests Slurm on the hosts of a lab (scripts/netlab slurm): programs that it starts know their racks without
# any setting, and get right results. Needs root and Slurm; skipped (77) if netlab reports that something is
# missing.
set -u
. "$(dirname "$0")/../support/lab.sh"
[[ $launcher == openmpi ]] || {
    echo 'skipped: no mpirun of Open MPI, whose ranks ask Slurm'
    exit 77
}
. "$(dirname "$0")/../support/expect.sh"
build=$PWD
unset COLL_TOPOLOGY COLL_TRACE
export COLL_PROFILE=built-in XDG_CONFIG_HOME=$work

slurm() {
    local verb=$1
    shift
    timeout -k 5 60 "$netlab" slurm "$verb" --name "$lab" "$@" </dev/null
}

# refused PATTERN ARGUMENTS: expects that netlab slurm ends with 1 and one line that matches PATTERN.
refused() {
    local pattern=$1 text
    shift
    text=$(slurm "$@" 2>&1 >/dev/null)
    same "status of: slurm $*" 1 $?
    matches "words of: slurm $*" "netlab: $pattern" "$text"
    same "lines of: slurm $*" 1 "$(wc -l <<<"$text")"
}

# nothing_left WHEN: expects that no process and no file of Slurm is left.
nothing_left() {
    matches "processes $1" '*; 0 processes' "$("$netlab" status --name "$lab")"
    same "files $1" "$(readlink "/run/netlab/$lab/run.slurm")" ''
}

# racks_of FILE: prints the hosts in coll-info's table with their racks: n0 0, n1 0, n2 1. Racks are
# numbered in the order of their first hosts.
racks_of() {
    awk '$1 ~ /^n[0-9]+$/ { print $1, $3 }' "$1" | sort |
        awk '
            !($2 in number) { number[$2] = racks++ }
            { printf "%s%s %d", (NR > 1 ? ", " : ""), $1, number[$2] }'
}
racks='n0 0, n1 0, n2 1, n3 1, n4 2, n5 2'

set_up up --racks 3 --hosts 2
refused "there is no Slurm on lab '$lab'*" exec true
refused "there is no Slurm on lab '$lab'*" down
refused "slurm needs up, down or exec, not 'start'*" start

text=$(slurm up 2>&1)
status=$?
if ((status == 3)); then
    echo "skipped: $text"
    exit 77
fi
same up "0 Slurm is up on lab '$lab': 6 hosts" "$status $text"
refused "Slurm is up on lab '$lab', or *" up
refused "there is no program './nosuch'*" exec ./nosuch
same 'status of exec' 5 "$(slurm exec sh -c 'exit 5' || echo $?)"
matches 'topology that Slurm tells' '*SwitchName=rack2 Level=0 LinkSpeed=1 Nodes=n?4-5?*' \
    "$(slurm exec scontrol show topology)"

# The order goes from rack to rack, as with srun --distribution=cyclic on hosts with many processors.
printf 'n%d\n' 0 2 4 1 3 5 >"$work/hosts"
cd "$work" || exit 1
srun() {
    SLURM_HOSTFILE=$work/hosts slurm exec srun -n 6 --distribution=arbitrary "$@"
}
COLL_TRACE=1 srun "$build/coll-info" >"$work/out" 2>"$work/err" || same 'coll-info by srun' 0 $?
same 'racks by srun' "$racks" "$(racks_of "$work/out")"
grep -q 'from Slurm' "$work/err" || same 'where racks are from' 'from Slurm' "$(<"$work/err")"
for operation in bcast allreduce; do
    # coll-bench fails if the data is wrong.
    srun "$build/coll-bench" "$operation" --sizes 64K --algorithms auto --reps 2 --verify \
        --json "$work/$operation" >"$work/out" 2>&1 || same "$operation by srun" 0 "$? $(<"$work/out")"
    grep -q '"ranks": 6, "bytes": 65536' "$work/$operation" || same "figures of $operation" some none
done

# mpirun starts its daemons with srun, in a job of all hosts.
cat >"$work/job" <<END_OF_JOB
#!/bin/sh
exec mpirun $build/coll-info
END_OF_JOB
slurm exec sbatch --nodes=6 --ntasks=6 --output="$work/out" --wait "$work/job" >/dev/null ||
    same 'coll-info by sbatch and mpirun' 0 "$? $(<"$work/out")"
same 'racks by sbatch and mpirun' "$racks" "$(racks_of "$work/out")"

# A running job does not prevent the end of Slurm.
slurm exec sbatch --output=/dev/null --wrap 'sleep 1000' >/dev/null || same 'sbatch' 0 $?
slurm down || same down 0 $?
nothing_left 'after down'

# Tests a daemon that does not start, and a killed `slurm up`.
printf '#!/bin/sh\nexit 1\n' >"$work/slurmd" && chmod +x "$work/slurmd"
PATH=$work:$PATH refused 'slurmd on n? ended at once: *' up
nothing_left 'after an up that failed'
"$netlab" slurm up --name "$lab" >/dev/null 2>&1 &
until [[ -L /run/netlab/$lab/run.slurm ]]; do sleep 0.01; done
kill -KILL $!
wait $! 2>/dev/null
slurm down || same 'down after an up that was killed' 0 $?
nothing_left 'after an up that was killed'

slurm up >/dev/null || same 'up once more' 0 $?
scratch=$(readlink "/run/netlab/$lab/run.slurm")
"$netlab" down --name "$lab" || same 'down of the lab' 0 $?
same 'files after the lab' '' "$(ls -d "$scratch" 2>/dev/null)"
same 'daemons after the lab' '' "$(grep -lsz "^SLURM_CONF=$scratch/" /proc/[0-9]*/environ)"

# The delay program of a lab goes on, and counts what it drops.
"$netlab" up --name "$lab" --racks 1 --hosts 2 --delay 1ms || same 'a lab with delays' 0 $?
slurm up >/dev/null || same 'up with delays' 0 $?
"$netlab" drops --name "$lab" >"$work/out" || same 'drops with Slurm' 0 $?
slurm down || same 'down with delays' 0 $?
"$netlab" drops --name "$lab" >"$work/out" || same 'drops after Slurm' 0 $?
nothing_left 'after a lab with delays'

((failures == 0)) || exit 1
echo 'slurm: all checks passed'
