#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests libcoll as a component of Open MPI, under unmodified programs: they get the same results as without
# it, from all operations; errors come once; parameters mean the same as the variables; the component is
# listed, installed and removed.
set -u
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
[ -f .libs/mca_coll_libcoll.so ] || {
    echo "skipped: the component is not built"
    exit 77
}
. "$(dirname "$0")/../support/programs.sh"
export COLL_PROFILE=built-in
programs=$build/tests/component
# Open MPI also looks for components in this folder. All ranks of a test are on one host.
mkdir components
ln -s "$build/.libs/mca_coll_libcoll.so" components
export OMPI_MCA_coll_libcoll_one_host=1

# run RANKS WORDS...: runs mpirun without the component; component runs it with the component. Output goes
# to out and err.
run() {
    local ranks=$1
    shift
    $limited "$mpirun" -n "$ranks" "$@" >out 2>err </dev/null
}
component() {
    local ranks=$1
    shift
    run "$ranks" --mca opal_mca_base_component_path "SYSTEM_DEFAULT:$work/components" "$@"
}

# parameters OPERATION=SPEC...: prints the mpirun arguments that set them.
parameters() {
    for setting; do
        printf '%s ' --mca "coll_libcoll_${setting%%=*}" "${setting#*=}"
    done
}
one=$(parameters bcast=chain:segment=1K gather=linear allreduce=ring reduce=chain reduce_scatter=ring \
    allgather=ring alltoall=pairwise scatter=straight barrier=dissemination scan=linear exscan=linear \
    neighbor_allgather=linear neighbor_alltoall=linear)
other=$(parameters bcast=two_tree gather=binomial allreduce=recursive_doubling reduce=binomial \
    reduce_scatter=pairwise allgather=bruck alltoall=bruck scatter=binomial barrier=racks \
    scan=recursive_doubling exscan=recursive_doubling neighbor_allgather=linear:segment=8 \
    neighbor_alltoall=linear:segment=8)

# --- Results ---
for ranks in 1 2 5 8; do
    # shellcheck disable=SC2086 # words
    component $ranks $one "$programs/operations" || fail "operations, $ranks ranks"
    grep -qx '0 wrong' out || fail "operations, $ranks ranks"
done
for ranks in 4 7; do
    # shellcheck disable=SC2086 # words
    component $ranks $other "$programs/operations" || fail "operations by others, $ranks ranks"
done

# The same with a time-out that no call reaches.
COLL_TIMEOUT=600 component 5 -x COLL_TIMEOUT "$programs/operations" || fail "operations with a time-out"
grep -qx '0 wrong' out || fail "operations with a time-out"

# Blocking, nonblocking and persistent calls ran in libcoll.
# shellcheck disable=SC2086 # words
component 3 $one --mca coll_libcoll_trace 1 "$programs/operations" || fail "operations with a trace"
for call in bcast gather allreduce reduce reduce_scatter allgather alltoall scatter barrier scan exscan \
    neighbor_allgather neighbor_alltoall; do
    grep -q "^coll: $call .*why=\"it was asked for\"" err || fail "no $call"
done
for call in bcast gatherv allreduce reduce reduce_scatter_block allgatherv alltoallv alltoallw scatterv barrier \
    scan neighbor_allgather neighbor_alltoallv neighbor_alltoallw; do
    grep -q "^coll: COLL_I$call " err || fail "no i$call"
    grep -q "^coll: COLL_${call^}_init " err || fail "no ${call}_init"
done

# MPI_Init opens few connections: with hundreds of hosts a rank must not run out of file descriptors.
tcp=(--mca pml ob1 --mca btl "tcp,self" --mca btl_tcp_if_include lo)
component 24 "${tcp[@]}" "$programs/connections" || fail "24 hosts"
[ "$(cat out)" -gt 0 ] && [ "$(cat out)" -le 12 ] || fail "$(cat out) connections after MPI_Init of 24 hosts"

# The same programs as under the wrapper, in each language.
same_as_without() {
    local ranks=$1 program=$build/tests/interposed/$2
    [ -x "$program" ] || return
    run "$ranks" "$program" || fail "$2 without libcoll"
    sort out >alone
    # shellcheck disable=SC2086 # words
    component "$ranks" $one "$program" || fail "$2"
    sort out | diff alone - || fail "$2 gets something else"
}
for program in calls random requests threads collectives descriptions family mpif_h use_mpi use_mpi_f08; do
    same_as_without 3 $program
done
free_cores same_as_without 2 random || exit
free_cores same_as_without 2 threads || exit
if python3 -c 'import mpi4py' 2>/dev/null; then
    cat >program.py <<'END'
from mpi4py import MPI
comm = MPI.COMM_WORLD
assert comm.bcast([comm.rank, "text"], root=1) == [1, "text"]
assert comm.allreduce(comm.rank) == comm.size * (comm.size - 1) // 2
assert comm.gather(comm.rank, root=0) == (list(range(comm.size)) if comm.rank == 0 else None)
END
    # shellcheck disable=SC2086 # words
    component 3 $one --mca coll_libcoll_trace 1 python3 program.py || fail "a program in Python"
    grep -q '^coll: bcast .*choice=chain' err || fail "a program in Python: no chain"
else
    echo "skipped: a program in Python, for want of mpi4py"
fi

# Ranks describe the same data differently, which Open MPI alone does not support everywhere.
for words in "$one" "$other"; do
    # shellcheck disable=SC2086 # words
    limited="timeout -k 10 120" component 5 $words "$build/tests/interposed/descriptions" 20 1 all ||
        fail "descriptions"
done

# At first Open MPI runs the calls. COLL_Set then applies to MPI's calls, and so does a second COLL_Set.
OMPI_MCA_coll_libcoll_one_host=1 COLL_TRACE=1 component 2 -x COLL_TRACE "$programs/set" || fail "set"
test "$(sed -n 's/^coll: bcast .*choice=\([a-z]*\).*/\1/p' err | paste -sd' ')" = "chain binomial" ||
    fail "set: other calls of bcast"

# Communicators come and go, and one is made while others are busy.
# shellcheck disable=SC2086 # words
component 3 $one "$programs/dups" || fail "dups"

# --- Setting up communicators ---
# In these ways messages, or communicators of libcoll's own, would disturb the program's.
for mode in groups idup names types; do
    # shellcheck disable=SC2086 # words
    component 4 $one "$programs/made" $mode || fail "made $mode"
    component 3 "$programs/made" $mode || fail "made $mode, by default"
done

# Open MPI's own persistent calls crash.
for mode in op type; do
    # shellcheck disable=SC2086 # words
    component 3 $one "$programs/made" $mode || fail "made $mode"
done

# With PML ucx libcoll's tags would be those of the program.
ucx="--mca pml ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any"
# shellcheck disable=SC2086 # words
if run 3 $ucx "$programs/made" any; then
    component 3 $ucx --mca coll_libcoll_any_network 1 --mca coll_libcoll_trace 1 $one "$programs/made" any ||
        fail "made any with ucx"
    grep -q "^coll: the component stands aside: ucx (its tags" err || fail "made any with ucx: not said why"
    [ ! -x "$build/coll-run" ] || $limited "$build/coll-run" -n 3 --wrap all --bcast chain $ucx -- "$programs/made" any \
        >out 2>err || fail "made any with ucx and --wrap"
else
    echo "skipped: ucx, which this Open MPI lacks"
fi

# sent WORDS...: prints the number of messages that 4 ranks send in total with the component, as Open MPI
# counts them.
sent() {
    rm -f count.*.prof
    component 4 --mca pml_monitoring_enable 1 --mca pml_monitoring_enable_output 3 \
        --mca pml_monitoring_filename "$work/count" --mca coll_libcoll_any_network 1 \
        --mca coll_libcoll_allreduce recursive_doubling "$programs/made" "$@" || fail "made $*"
    cat count.*.prof | awk '$1 == "E" || $1 == "I" { sum += $6 } END { print sum + 0 }'
}
none=$(sent dup 0 0) duplicates=$(sent dup 50 0) used=$(sent dup 50 50)
run 4 --mca pml_monitoring_enable 1 --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename \
    "$work/alone" "$programs/made" dup 50 0 || fail "made dup without libcoll"
alone=$(cat alone.*.prof | awk '$1 == "E" || $1 == "I" { sum += $6 } END { print sum + 0 }')
rm -f alone.*.prof count.*.prof
# An allreduce by recursive doubling sends 8 messages. Apart from the messages of MPI_Init there are no others.
test $((used - duplicates)) = $((50 * 8)) || fail "$((used - duplicates)) messages for 50 allreduces"
test $((duplicates - none)) -le "$alone" || fail "$duplicates messages for 50 communicators, $alone without libcoll"

# --- Errors ---
# MPI would find most of these errors before it calls the component.
component 2 --mca mpi_param_check 0 --mca coll_libcoll_alltoall pairwise "$programs/errors" || fail "errors"
test "$(grep -c '^[01]: i\{0,1\}alltoall[_a-z]*: 1 call, class \([0-9]*\), handled \1: .*alltoall: 8 bytes' out)" = 6 ||
    fail "errors don't come once"
test "$(grep -c '^[01]: afterwards: 0 calls' out)" = 2 || fail "after errors"
COLL_TIMEOUT=0.5 component 2 -x COLL_TIMEOUT --mca coll_libcoll_bcast chain "$programs/errors" late
grep -q '^0: ibcast: 1 call, .*rank 1' out || fail "the error of a request"
grep -qx '0: the request is gone' out || fail "a request with an error"

# --- A rank that is late ---
# late CALL [WORDS...]: checks the error that rank 0 prints. WORDS set COLL_TIMEOUT, by default on all
# ranks.
late() {
    local call=$1
    shift
    [ $# -gt 0 ] || set -- env COLL_TIMEOUT=0.5
    component 3 "$@" "$programs/late" "$call"
}
for call in allreduce barrier iallreduce ibcast small first; do
    late $call
    grep -q "^$call: .*COLL_TIMEOUT" out || fail "a late rank: $call"
    grep -qx 'the request is gone' out || fail "a late rank: $call leaves a request"
done
# The setting of rank 0 applies to all ranks.
# shellcheck disable=SC2016 # for the ranks' shells
late barrier sh -c 'test "$OMPI_COMM_WORLD_RANK" != 0 || export COLL_TIMEOUT=0.5; exec "$@"' sh
grep -q '^barrier: .*COLL_TIMEOUT' out || fail "a late rank: COLL_TIMEOUT on rank 0"
# The next calls are in time, also on a busy machine. Rank 1 calls MPI_Comm_idup 4 seconds later.
late idup env COLL_TIMEOUT=3
grep -qx 'idup: no error' out || fail "a late rank: MPI_Comm_idup"
# Open MPI's blocking calls don't sleep.
COLL_WAIT=polite component 3 -x COLL_WAIT "$programs/counted" || fail "COLL_WAIT=polite"
grep -q passed out && fail "COLL_WAIT=polite: something is left to Open MPI"
late type env COLL_TIMEOUT=10
grep -qx 'type: no error' out || fail "a type that is freed while it is in use"

# --- Faults, and programs without MPI_COMM_WORLD ---
if "$programs/fault"; then
    # The status is not checked: it may be that of the lost rank. The launcher mixes parts of stderr into stdout.
    # shellcheck disable=SC2086 # words
    component 4 --with-ft ulfm $one --mca coll_libcoll_trace 1 sh -c 'exec "$0" rank 2>>trace' "$programs/fault"
    test "$(grep -c '^4 ranks: code 0, 0 wrong$' out)" -ge 3 || fail "before a fault"
    test "$(grep -c '^the error is of a fault$' out)" = 3 || fail "a fault: no error, or another"
    test "$(grep -c '^3 ranks: code 0, 0 wrong$' out)" = 3 || fail "after a fault"
    grep -q '^coll: allreduce .* ranks=3 .*choice=ring' trace || fail "after a fault: no ring"
    # shellcheck disable=SC2086 # words
    component 3 $one "$programs/fault" session || fail "sessions alone"
    test "$(grep -c '^3 ranks: code 0, 0 wrong$' out)" = 3 || fail "sessions alone"
else
    echo "skipped: faults and sessions, which this MPI library lacks"
fi

# --- Parameters ---
export OMPI_MCA_opal_mca_base_component_path=SYSTEM_DEFAULT:$work/components
ompi_info --param coll libcoll --level 9 >out 2>err || fail "ompi_info"
for parameter in priority enable strict any_network one_host gpu bcast gather allreduce reduce reduce_scatter \
    allgather alltoall scatter barrier scan exscan neighbor_allgather neighbor_alltoall topology profile reproducible learn timeout \
    trace; do
    grep -q "\"coll_libcoll_$parameter\"" out || fail "$parameter is not listed"
done
unset OMPI_MCA_opal_mca_base_component_path

# says PATTERN: expects one line on stderr, with PATTERN.
says() {
    test "$(grep -c '^\(coll\|libcoll\): ' err)" = 1 || fail "not one line: $1"
    grep -q "$1" err || fail "nothing with $1"
}
aborting component 3 --mca coll_libcoll_bcast nonsense "$programs/counted" && fail "nonsense is taken"
says '^libcoll: COLL_BCAST=nonsense.*chain'
component 3 --mca coll_libcoll_bcast nonsense --mca coll_libcoll_strict 0 "$programs/counted" ||
    fail "strict 0"
says '^libcoll: left out: COLL_BCAST=nonsense'
grep -qx 'coll_libcoll_passed_bcast 5' out || fail "strict 0: not as by default"
COLL_NONSENSE=1 aborting component 2 -x COLL_NONSENSE "$programs/counted" && fail "COLL_NONSENSE is taken"
says '^libcoll: unknown setting COLL_NONSENSE'

component 3 --mca coll_libcoll_bcast chain "$programs/counted" || fail "counters"
printf 'coll_libcoll_%s\n' 'passed_allreduce 3' 'served_bcast 5' >expected
sort out | diff expected - || fail "counters"
# The variable has precedence over the parameter.
COLL_BCAST=native COLL_ALLREDUCE=ring component 3 -x COLL_BCAST -x COLL_ALLREDUCE \
    --mca coll_libcoll_bcast chain "$programs/counted" || fail "variables"
printf 'coll_libcoll_%s\n' 'passed_bcast 5' 'served_allreduce 3' >expected
sort out | diff expected - || fail "a variable doesn't win"
COLL_DISABLE=1 component 3 -x COLL_DISABLE --mca coll_libcoll_bcast chain "$programs/counted" ||
    fail "COLL_DISABLE"
grep -q served out && fail "COLL_DISABLE=1"
component 3 --mca coll_libcoll_bcast chain --mca coll_libcoll_enable 0 "$programs/counted" ||
    fail "enable 0"
test -s out && fail "enable 0: something is counted"

# --- Communicators and ranks that it does not serve ---
# A setting on one rank alone must not leave another rank waiting.
for rank in 0 2; do
    # shellcheck disable=SC2016 # for the ranks' shells
    OTHER=$rank COLL_TRACE=1 limited="timeout -k 10 60" component 3 -x OTHER -x COLL_TRACE --mca coll_libcoll_bcast chain \
        sh -c 'OMPI_MCA_coll_libcoll_enable=$((OMPI_COMM_WORLD_RANK != OTHER)) exec "$0"' "$programs/counted" ||
        fail "without rank $rank"
    grep -q served out && fail "without rank $rank"
    grep -q 'rank.* no part\|another rank has' err || test $rank = 0 || fail "without rank $rank: not said"
done
# One rank says that buffers may be in the memory of a GPU.
gpus() {
    COLL_TRACE=1 component 3 -x COLL_TRACE --mca coll_libcoll_bcast chain "$@" "$programs/counted" || fail "gpu: $*"
}
# shellcheck disable=SC2016 # for the ranks' shells
gpus sh -c 'OMPI_MCA_coll_libcoll_gpu=$((OMPI_COMM_WORLD_RANK == 2)) exec "$0"'
grep -q served out && fail "gpu: something is served"
says "stands aside: buffers may lie in a GPU's memory"
gpus --mca coll_libcoll_gpu 0
grep -q served out || fail "gpu 0"

OMPI_MCA_coll_libcoll_one_host=0 component 3 --mca coll_libcoll_trace 1 "$programs/counted" ||
    fail "one host"
test -s out && fail "one host: something is counted"
says 'stands aside: all ranks on one host'
COLL_TEST_MPI="Open MPI v3.9.1, or so" component 2 -x COLL_TEST_MPI -x LD_PRELOAD="$build/.libs/libother.so" \
    "$programs/counted" || fail "another version"
test -s out && fail "another version: something is counted"
says '^libcoll: .*Open MPI v3.9.1: .*build libcoll'
# Open MPI 4.1 and 5.0 can both load the component: what only one of them has may be missing.
nm -D --undefined-only "$build/.libs/mca_coll_libcoll.so" | awk '$1 == "U"' |
    grep -E ' (PMIx_|orte_|opal_pmix|opal_value_t_class|opal_accelerator|ompi_group_get_proc_ptr_raw)' &&
    fail "Open MPI of another series can't load the component"
aborting component 2 -x LD_PRELOAD="$build/.libs/libother.so" "$programs/counted" && fail "another MPI library"
says '^libcoll: built for .*SomeMPI.*build libcoll'

# --- Where it is put ---
[ ! -x "$build/coll-run" ] || {
    "$build/coll-run" -n 2 --component --bcast chain -- "$programs/counted" >out 2>err || fail "coll-run"
    grep -qx 'coll_libcoll_served_bcast 5' out || fail "coll-run --component"
    "$build/coll-run" -n 2 --component --dcp 1 -- "$programs/counted" >out 2>err && fail "with DCPs"
}
(
    export HOME=$work/home
    mkdir "$HOME"
    "$source_dir/scripts/install-component" --from "$build" >out 2>err || fail "install-component"
    COLL_BCAST=chain run 2 -x COLL_BCAST "$programs/counted" || fail "installed"
    grep -qx 'coll_libcoll_served_bcast 5' out || fail "installed, but not used"
    [ ! -x "$build/coll-run" ] || {
        "$build/coll-run" -n 2 --report --wrap all -- "$programs/counted" >out 2>err || fail "installed and preloaded"
        test "$(grep -c '^libcoll [0-9.]*: ' err)" = 1 || fail "installed and preloaded: not one report"
    }
    "$source_dir/scripts/install-component" --remove >out 2>err || fail "install-component --remove"
    test -z "$(ls "$HOME/.openmpi/components")" || fail "something is left"
    test ! -e "$HOME/.openmpi/mca-params.conf" || fail "a line is left"
    printf 'mca_base_component_path = USER_DEFAULT\n' >"$HOME/.openmpi/mca-params.conf"
    cp "$HOME/.openmpi/mca-params.conf" before
    "$source_dir/scripts/install-component" --from "$build" >out 2>err || fail "with another path"
    test "$(wc -l <err)" = 1 || fail "with another path: not one line"
    "$source_dir/scripts/install-component" --remove >out 2>err || fail "with another path: --remove"
    cmp before "$HOME/.openmpi/mca-params.conf" || fail "with another path: parameters are changed"
    printf 'pml = ob1' >"$HOME/.openmpi/mca-params.conf"
    "$source_dir/scripts/install-component" --from "$build" >out 2>err || fail "with parameters"
    "$source_dir/scripts/install-component" --remove >out 2>err || fail "with parameters: --remove"
    test "$(cat "$HOME/.openmpi/mca-params.conf")" = "pml = ob1" || fail "parameters are changed"
    "$source_dir/scripts/install-component" --remove >out 2>err && fail "removed twice"
    test "$(wc -l <err)" = 1 || fail "removed twice: not one line"
) || exit
echo "all as it should be"
