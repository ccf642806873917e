#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests COLL_RECORD, coll-info replay and coll-info place: what is recorded is what a program did, linked, under
# coll-run and with the component; estimates and GOAL have all calls; a placement puts together what
# communicates; and a wrong record is refused.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/../support/programs.sh"
export COLL_PROFILE=built-in XDG_CACHE_HOME="$work/cache"
recorded=$build/tests/report/recorded

run() {
    ranks=$1
    shift
    $limited "$mpirun" -n "$ranks" "$@" >out 2>err </dev/null
}
info() {
    $limited "$build/coll-info" "$@" >out 2>err </dev/null
}
# value FILE KEY [PATTERN]: prints the value of KEY in the first line of FILE with PATTERN.
value() {
    sed -n "/${3-ranks}/s/.*\"$2\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$1" | head -n 1
}
same() {
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}

# --- Under coll-run: collectives and messages ---
[ -x "$build/coll-run" ] || { echo "no coll-run"; exit 77; }
coll_run() {
    $limited "$build/coll-run" -n "$@" >out 2>err </dev/null
}
coll_run 4 --wrap all --record rec -- "$recorded" 3 8192 2 || fail "coll-run --record"
measured=$(cut -d ' ' -f 1 out)
grep -q '^call bcast [0-9a-f]* even 1 8192 ' rec/rank.2 || fail "no bcast from rank 1"
grep -q '^call allgather [0-9a-f]* uneven -1 2048 ' rec/rank.3 || fail "no allgatherv"
grep -q '^call allgather [0-9a-f]* uneven -1 1024 ' rec/rank.2 || fail "no block of rank 2"
grep -q '^comm [0-9a-f]* 0,2$' rec/rank.0 || fail "no communicator of the even ranks"
grep -q '^sent 0 6 49152$' rec/rank.2 && fail "rank 2 sends to 3 and 0"
grep -q '^sent 0 3 24576$' rec/rank.2 && grep -q '^sent 3 3 24576$' rec/rank.2 || fail "messages of rank 2"
info replay rec --json r.json || fail "replay"
same "ranks" "$(value r.json ranks)" 4
same "calls" "$(value r.json calls '"operation": "alltoall"')" 3
same "bytes" "$(value r.json sent_bytes)" $((4 * 2 * 3 * 8192))
# The program's sum has its own clock, and lacks its last reduce.
echo "$measured $(value r.json recorded_s)" | awk '{ exit !($2 > 0.5 * $1 && $2 < 1.5 * $1 + 0.01) }' ||
    fail "recorded $(value r.json recorded_s) s of $measured"
# Estimates are the same each time, and follow the network and the algorithm.
info replay rec --ranks-per-host 1 --json a.json || fail "a rank per host"
info replay rec --ranks-per-host 1 --json b.json || fail "a rank per host again"
cmp -s a.json b.json || fail "two estimates differ"
same "hosts" "$(value a.json hosts)" 4
info replay rec --ranks-per-host 1 --algorithm 'bcast=linear;alltoall=bruck' --json c.json || fail "algorithms"
same "algorithm" "$(value c.json algorithm '"operation": "bcast"')" linear
same "algorithm" "$(value c.json algorithm '"operation": "alltoall"')" bruck
printf '%s\n' 'a slots=2' '# nothing' 'b' 'c' >hosts
printf '%s\n' 'SwitchName=r0 Nodes=a' 'SwitchName=r1 Nodes=b,c' 'SwitchName=s Switches=r0,r1' >topology
info replay rec --hostfile hosts --topology topology --json d.json || fail "a hostfile and racks"
same "hosts" "$(value d.json hosts)" 3
same "racks" "$(value d.json racks)" 2
printf '%s\n' 'a slots=2' '# nothing' 'b slots=x' >wrong
info replay rec --hostfile wrong && fail "a wrong hostfile"
grep -q "hostfile wrong, line 3: 'slots=x' is no number of slots" err || fail "no line of a hostfile"

# Calls among neighbours are recorded and counted, but not estimated.
not_estimated() {
    coll_run "$@" || fail "neighbours: $*"
    grep -q '^call neighbor_alltoall [0-9a-f]* even -1 64 ' near/rank.3 || fail "no neighbor_alltoall"
    grep -q '^call neighbor_alltoall [0-9a-f]* uneven -1 ' near/rank.3 || fail "no neighbor_alltoallv"
    grep -q '^call neighbor_allgather [0-9a-f]* uneven -1 ' near/rank.3 || fail "no neighbor_allgatherv"
    info replay near --ranks-per-host 1 --json n.json || fail "a record with neighbours"
    # With the component, Open MPI's own calls to create a communicator are recorded, too.
    skipped=$(cat near/rank.? | grep -c -e '^start' -e '^call neighbor')
    [ "$skipped" -ge 24 ] || fail "only $skipped calls among neighbours"
    grep -q "^# not estimated: $((skipped / 4)).0 calls per rank" out || fail "no line on neighbours"
    same "not estimated" "$(value n.json not_estimated)" "$skipped"
    same "calls" "$(value n.json calls '"operation": "alltoall"')" 2
    grep -q neighbor out && fail "a row of neighbours"
    info replay near --algorithm 'bcast=chain;allreduce=ring' --export-goal n.goal || fail "GOAL with neighbours"
    printf 'a slots=2\nb slots=2\n' >two
    info place near --hostfile two --output rankfile || fail "placing neighbours"
    rm -r near
}
not_estimated 4 --wrap all --record near -- "$recorded" 2 64 -1
not_estimated 4 --wrap all --neighbor-alltoall linear --neighbor-allgather linear --record near -- "$recorded" 2 64 -1

# --- GOAL ---
info replay rec --ranks-per-host 1 --algorithm 'bcast=chain;allreduce=ring' --export-goal g.goal || fail "GOAL"
messages=$(awk -f "$here/goal.awk" g.goal) || fail "GOAL: $messages"
[ "$messages" -gt 100 ] || fail "only $messages messages"
sed 's/^\(l3: .*\)/\1\n\1/' g.goal | awk -f "$here/goal.awk" >out && fail "a label twice passes"
sed '0,/ recv /s/ recv [0-9]*b/ recv 1b/' g.goal | awk -f "$here/goal.awk" >out && fail "a wrong message passes"

info replay rec --export-goal g2.goal --json g2.json && fail "GOAL and JSON"
grep -q 'drop --json' err && [ ! -e g2.goal ] || fail "GOAL and JSON: not refused"

# --- Placement: ranks 0 and 2, 1 and 3 exchange more than others ---
mkdir pairs
for rank in 0 1 2 3; do
    printf '%s\n' "coll-record 1" "rank $rank of 4 job 1 host h$rank" "sent $(((rank + 2) % 4)) 10 1000000" \
        "sent $(((rank + 1) % 4)) 10 1000" "end 0 1000000 5 0" >pairs/rank.$rank
done
printf 'x slots=2\ny slots=2\n' >two
info place pairs --hostfile two --output rankfile || fail "place"
same "host of 2" "$(sed -n 's/rank 2=\(.*\) slot.*/\1/p' rankfile)" "$(sed -n 's/rank 0=\(.*\) slot.*/\1/p' rankfile)"
same "host of 3" "$(sed -n 's/rank 3=\(.*\) slot.*/\1/p' rankfile)" "$(sed -n 's/rank 1=\(.*\) slot.*/\1/p' rankfile)"
same "slots" "$(sed 's/rank .=//' rankfile | sort | tr '\n' ',')" "x slot=0,x slot=1,y slot=0,y slot=1,"
grep -q '^# communication takes [0-9]*\.[0-9]* times less$' out || fail "no gain"
printf '%s\n' 'x slots=1' 'y slots=2' 'x' >apart
info place pairs --hostfile apart --output rankfile || fail "a host in two lines"
same "slots" "$(sed 's/rank .=//' rankfile | sort | tr '\n' ',')" "x slot=0,x slot=1,y slot=0,y slot=1,"

if [ "$launcher" != mpich ]; then # whose mpiexec would write the output
    $limited "$build/coll-info" place pairs --hostfile two --output lost >/dev/full 2>err </dev/null &&
        fail "place to a full disk"
    grep -q "^coll-info: the output can't be written: " err && [ ! -e lost ] || fail "a full disk is not named"
fi

# --- With the component: collectives alone ---
if [ -f "$build/.libs/mca_coll_libcoll.so" ]; then
    coll_run 2 --component --record own --allreduce ring -- "$recorded" 2 4096 1 || fail "the component"
    info replay own --json o.json || fail "a record of the component"
    same "calls" "$(value o.json calls '"operation": "alltoall"')" 2
    aborting coll_run 2 --component --record own -- "$recorded" 2 4096 && fail "the component mixes two records"
    grep -q 'COLL_RECORD=own: has a record already; name another directory' err || fail "no reason"
    not_estimated 4 --component --record near -- "$recorded" 2 64 -1
fi

# --- Linked ---
COLL_RECORD=linked run 3 "$build/tests/report/linked" -1 0 5 || fail "linked"
info replay linked --json l.json || fail "a record of a linked program"
same "calls" "$(value l.json calls allreduce)" 5

# Blocks of several sizes: all blocks of a rank are recorded, whoever runs the call; the report has the mean block.
for algorithm in native pairwise; do
    COLL_REDUCE_SCATTER=$algorithm COLL_RECORD=blocks-$algorithm COLL_REPORT=b.json \
        run 3 "$build/tests/report/blocks" 10 || fail "blocks, $algorithm"
    grep -q '^call reduce_scatter [0-9a-f]* uneven -1 240 ' blocks-$algorithm/rank.1 || fail "blocks of $algorithm"
    same "algorithm" "$(value b.json algorithm '"operation": "reduce_scatter"')" $algorithm
    same "mean block" "$(value b.json bytes '"operation": "reduce_scatter"')" 80
    info replay blocks-$algorithm --json b.json || fail "a record of blocks"
    same "mean block" "$(value b.json from_bytes '"operation": "reduce_scatter"')" 64
done
same "alltoalls of rank 1" "$(grep -c '^call alltoall [0-9a-f]* uneven -1 240 ' blocks-native/rank.1)" 2

# A record that one rank alone can't open: all ranks get the error, once and again.
mkdir half && : >half/rank.1
COLL_RECORD=half run 3 "$build/tests/report/blocks" 10 && fail "one rank has a record already"
same "ranks that failed" "$(grep -c '^rank [0-2] failed$' out)" 3

# --- Wrong records ---
refused() {
    info replay "$1" && fail "$1 is taken"
    [ "$(wc -l <err)" -eq 1 ] && grep -q "$2" err || fail "$1: not \"$2\""
}
aborting coll_run 4 --record rec -- "$recorded" 1 64 && fail "two records mix"
grep -q 'rec: has a record already; name another directory' err || fail "no reason"
copy() {
    rm -rf bad && cp -r rec bad
}
refused nowhere 'No such file'
copy && rm bad/rank.2 && refused bad 'rank.2: No such file.*every rank of the job has such a file'
copy && sed '$d' rec/rank.1 >bad/rank.1 && refused bad 'rank.1.*truncated'
copy && head -c 300 rec/rank.1 >bad/rank.1 && refused bad 'rank.1.*truncated'
copy && : >bad/rank.0 && refused bad 'rank.0.*truncated'
copy && sed 's/ job [0-9a-f]*/ job 1234/' rec/rank.3 >bad/rank.3 && refused bad 'rank.3, line 2.*another job'
copy && cp rec/rank.3 bad/rank.7 && refused bad 'mixed: rank 7 is not of this job of 4 ranks'
copy && sed 's/^coll-record 1/coll-record 2/' rec/rank.0 >bad/rank.0 && refused bad 'version 2 is not 1'
copy && sed 's/^call barrier/call allreduce/' rec/rank.1 >bad/rank.1 && refused bad 'call .* of rank .* the other ranks'
copy && sed '0,/^call barrier/{/^call barrier/d}' rec/rank.1 >bad/rank.1 && refused bad 'calls were recorded'
copy && sed 's/^call bcast \([0-9a-f]*\)/call bcast 1\1/' rec/rank.1 >bad/rank.1 && refused bad 'without its line'
for wrong in 'bcast' 'nothing=ring' 'bcast=nothing'; do
    info replay rec --algorithm "$wrong" && fail "--algorithm $wrong is taken"
done
printf 'a\n' >one
info place rec --hostfile one --output rankfile && fail "one slot for 4 ranks"
grep -q 'there are 1 slots for the 4 ranks' err || fail "too few slots"
info place rec --hostfile hosts --output nowhere/rankfile && fail "an output in no directory"
grep -q "nowhere/rankfile: can't be written" err || fail "no reason for the output"
# No output overwrites an input.
cp -r rec inputs && cp hosts topology inputs
overwrites() {
    info "$@" && fail "overwritten: $*"
    [ "$(wc -l <err)" -eq 1 ] && grep -q "is also read, as" err || fail "not refused: $*"
}
overwrites place rec --hostfile hosts --output hosts
overwrites place rec --hostfile hosts --output rec/rank.1
overwrites place rec --hostfile hosts --topology topology --output ./topology
overwrites replay rec --hostfile hosts --json hosts
overwrites replay rec --export-goal rec/rank.0
overwrites replay rec --profile topology --json topology
for file in hosts topology rec/rank.0 rec/rank.1; do
    cmp -s "$file" "inputs/${file##*/}" || fail "$file is overwritten"
done
info replay rec --hostfile hosts --json nowhere/r.json && fail "JSON in no directory"
info replay rec --hostfile hosts --topology /dev/null && fail "an empty topology lists hosts"
echo "all tests passed"
