#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests unmodified programs in C, C++ and Fortran under coll-run. With dedicated processors they print the
# same as without, with the same number of application ranks. Also tests the errors of coll-run and the
# wrapper, and that nothing is left running when a rank aborts or is killed.
set -u
[ -x coll-run ] || {
    echo "skipped: libcoll_pmpi is not built"
    exit 77
}
. "$(dirname "$0")/../support/programs.sh"
export COLL_PROFILE=built-in

# run OPTIONS PROGRAM ARGUMENTS: runs a program without libcoll, with its output in out and err.
run() {
    $limited "$mpirun" "$@" >out 2>err </dev/null
}

# coll_run RANKS OPTIONS -- PROGRAM ARGUMENTS: does the same under coll-run.
coll_run() {
    $limited "$build/coll-run" -n "$@" >out 2>err </dev/null
}

# Runs a program whose stderr goes to the file trace. The launcher of Open MPI 5 mixes parts of it into stdout.
cat >traced <<'END'
#!/bin/sh
exec "$@" 2>>trace
END
chmod +x traced

# leaky COMMAND...: runs COMMAND without the detection of leaks, which takes most of the time of sanitizers.
leaky() {
    ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0:fast_unwind_on_malloc=1" "$@"
}

# same RANKS PROGRAM: expects the same output on RANKS application ranks with any number of DCPs.
same() {
    ranks=$1
    shift
    program=$build/tests/interposed/$1
    [ -x "$program" ] || {
        echo "skipped: $1, for want of a compiler"
        return
    }
    echo "== $1 with $ranks ranks"
    leaky run -n "$ranks" "$program" || fail "$1 without libcoll"
    sort out >alone
    coll_run "$ranks" -- "$program" || fail "$1 with the wrapper alone"
    sort out | diff alone - || fail "$1 with the wrapper alone"
    for dcp in 2 1:3; do
        case $dcp in
        1:*) served=$((ranks + (ranks + 2) / 3)) ;;
        *) served=$((ranks + dcp)) ;;
        esac
        coll_run "$served" --dcp $dcp -- "$program" || fail "$1 with --dcp $dcp"
        test -s err && fail "$1 with --dcp $dcp says something"
        sort out | diff alone - || fail "$1 with --dcp $dcp"
    done
}
same 3 calls
for options in 3 "5 --dcp 2"; do
    # shellcheck disable=SC2086 # words
    coll_run $options --wrap all -- "$build/tests/interposed/calls" || fail "calls with -n $options --wrap all"
    sort out | diff alone - || fail "calls with -n $options --wrap all"
done
same 1 calls
same 3 early
same 3 requests
same 3 random
same 3 threads
coll_run 3 --wrap all -- "$build/tests/interposed/threads" || fail "threads with --wrap all"
sort out | diff alone - || fail "threads with --wrap all"
# This is how tests/support/launch runs it.
free_cores same 2 random || exit
free_cores same 2 threads || exit
free_cores coll_run 3 --dcp 1 -- "$build/tests/interposed/threads" free || fail "threads that free"
test "$(grep -c ' 0 wrong$' out)" = 2 || fail "threads that free"
same 3 mpif_h
same 3 use_mpi
same 3 use_mpi_f08
same 2 bindings
if [ "$launcher" = openmpi ]; then
    same 3 family
    same 3 arguments
    coll_run 5 --dcp 2 --bcast chain --gather linear --alltoall pairwise -- "$build/tests/interposed/arguments" ||
        fail "arguments with --bcast, --gather and --alltoall"
    sort out | diff alone - || fail "arguments with --bcast, --gather and --alltoall"
else
    echo "skipped: family, arguments: Debian's MPICH starts no further ranks, and ends where arguments are wrong"
fi

# Broadcasts and gathers go to libcoll from every language, with the application's MPI_COMM_WORLD.
for program in calls mpif_h use_mpi use_mpi_f08; do
    [ -x "$build/tests/interposed/$program" ] || continue
    COLL_TRACE=1 coll_run 5 --dcp 2 --bcast chain --gather linear -- \
        "$build/tests/interposed/$program" || fail "$program with --bcast and --gather"
    for call in "bcast .*choice=chain" "gather .*choice=linear"; do
        grep -q "^coll: $call" err || fail "$program: no $call"
    done
    test "$(grep -c '^coll: account ranks=3 dcps=2 Tcomp=' err)" = 1 || fail "$program's account"
    grep '^coll: account' err | grep -q ' served=0' && fail "$program: no allreduce is served"
done

# With all collectives in libcoll, the results are the same, and libcoll chooses each algorithm. MPI calls
# inside libcoll are not intercepted.
same 3 collectives
coll_run 5 --dcp 2 --wrap all -- "$build/tests/interposed/collectives" ||
    fail "collectives with --wrap and --dcp"
sort out | diff alone - || fail "collectives with --wrap and --dcp"
rm -f trace
COLL_TRACE=1 coll_run 3 --wrap all --allreduce ring -- ./traced "$build/tests/interposed/collectives" ||
    fail "collectives with --wrap"
sort out | diff alone - || fail "collectives with --wrap"
for call in bcast gather allreduce reduce reduce_scatter allgather alltoall scatter barrier scan exscan \
    neighbor_allgather neighbor_alltoall; do
    grep -q "^coll: $call " trace || fail "collectives with --wrap: no $call"
done
grep -q '^coll: allreduce .*choice=ring' trace || fail "collectives: no ring"

# Nonblocking and persistent collectives go the same way. The MPI library's own are compared with, if it runs
# them without freed types and operations.
specs="--bcast binomial --gather binomial --allreduce ring --reduce binomial --reduce-scatter ring --allgather ring
    --alltoall pairwise --scatter binomial --barrier dissemination --scan linear --exscan linear"
# runs_all RANKS PROGRAM WORDS...: expects the output in natively, and that libcoll runs calls of all kinds.
runs_all() {
    ranks=$1
    program=$2
    shift 2
    rm -f trace
    # shellcheck disable=SC2086 # words
    COLL_TRACE=1 coll_run "$ranks" $specs -- ./traced "$build/tests/interposed/$program" "$@" || fail "$program $*"
    sort out | diff natively - || fail "$program $*"
    case $* in
    persistent*) calls='COLL_[A-Z][a-z_]*_init' ;;
    *) calls='COLL_I[a-z_]*' ;;
    esac
    test "$(grep -o "^coll: $calls " trace | sort -u | wc -l)" = 17 || fail "$program $*: not all calls"
}
for ranks in 2 5; do
    run -n $ranks "$build/tests/interposed/nonblocking" || fail "nonblocking without libcoll"
    sort out >natively
    runs_all $ranks nonblocking freed refused
    runs_all $ranks nonblocking persistent freed
done
coll_run 7 --dcp 2 --wrap all -- "$build/tests/interposed/nonblocking" ||
    fail "nonblocking with --dcp"
sort out | diff natively - || fail "nonblocking with --dcp"
if [ -x "$build/tests/interposed/nonblocking_c" ]; then
    runs_all 5 nonblocking_c freed
    runs_all 5 nonblocking_c persistent freed
fi
# Requests of DCPs, of libcoll and of the MPI library are completed together. Communicators that random finds
# to be left are those that libcoll made.
for program in requests random; do
    run -n 3 "$build/tests/interposed/$program" || fail "$program"
    grep -v ' is left$' out | sort >natively
    for options in "-n 3" "-n 5 --dcp 2"; do
        # shellcheck disable=SC2086
        $limited "$build/coll-run" $options $specs -- "$build/tests/interposed/$program" >out 2>err </dev/null ||
            fail "$program $options with all collectives"
        grep -v ' is left$' out | sort | diff natively - || fail "$program $options with all collectives"
    done
done

# If a named algorithm cannot run, a line reports it once for each operation, from each process that is rank
# 0 of a communicator of all ranks. There is a second one with ranks in reverse order.
coll_run 3 --wrap all --allreduce racks --alltoall racks -- "$build/tests/interposed/collectives" ||
    fail "collectives by racks"
sort out | diff alone - || fail "collectives by racks"
for call in allreduce alltoall; do
    line="coll: racks was asked for, but can't run the $call here: all ranks are on one host; native runs instead"
    test "$(grep -c -x -e "$line" err)" = 2 || fail "collectives by racks: not two lines of $call"
done
test "$(wc -l <err)" = 4 || fail "collectives by racks: more is said"
COLL_TRACE=1 coll_run 2 --wrap scan,alltoall -- "$build/tests/interposed/collectives" ||
    fail "collectives with two wrapped"
test "$(sed -n 's/^coll: \([a-z_]*\) .*choice=.*/\1/p' err | sort -u | tr '\n' ' ')" = "alltoall scan " ||
    fail "collectives with two wrapped"

# Ranks describe the same data differently.
if [ "$launcher" = openmpi ]; then
    same 3 descriptions
    coll_run 5 --wrap all -- "$build/tests/interposed/descriptions" 20 21 ||
        fail "descriptions with --wrap"
else
    echo "skipped: descriptions, which leave out what Open MPI gets wrong"
fi

# MPI 4's calls with large counts are handled like the others.
# choices PROGRAM RANKS OPTIONS: writes to "choices" the calls for which libcoll chooses, how often, and the
# number of served calls.
choices() {
    program=$1
    shift
    COLL_TRACE=1 coll_run "$@" -- "$build/tests/interposed/$program" || fail "$program with a trace"
    sed -n 's/^coll: \([a-z_]*\) .*choice=.*/\1/p; s/^coll: account .*\( served=[^ ]*\).*/\1/p' err |
        sort | uniq -c >choices
}
if [ -x "$build/tests/interposed/collectives_c" ]; then
    same 3 random_c
    same 3 collectives_c
    choices collectives 3 --wrap all
    mv choices plain
    choices collectives_c 3 --wrap all
    diff plain choices || fail "collectives_c: others are chosen for"
    sort out | diff alone - || fail "collectives_c with --wrap"
    choices random 5 --dcp 2
    mv choices plain
    choices random_c 5 --dcp 2
    diff plain choices || fail "random_c: others are served"
else
    echo "skipped: calls with large counts, which the MPI library lacks"
fi

# All allreduces are served except the first on the communicator of MPI_Comm_idup: 28, 26 and 31.
COLL_TRACE=1 coll_run 5 --dcp 2 -- "$build/tests/interposed/early" || fail "early with a trace"
grep '^coll: account' err | grep -q ' served=28.3 ' || fail "another number of allreduces is served"

# Without DCPs the account has the time of calls that DCPs could serve. Waiting for these in MPI_Wait and
# similar calls then does not count as messages. A program of blocking collectives starts none.
COLL_TRACE=1 coll_run 3 -- "$build/tests/interposed/requests" || fail "requests with a trace"
grep '^coll: account' err | grep -q ' served=0.0 .* Tstarted=0.000000 ' && fail "requests: no collective is started"
COLL_TRACE=1 coll_run 3 -- "$build/tests/interposed/collectives" || fail "collectives with a trace"
grep '^coll: account' err | grep -q ' Tstarted=0.000000 ' || fail "collectives: one is started"
grep '^coll: account' err | grep -q ' Tserved=0.000000 ' && fail "collectives: no allreduce would be served"

# The launcher's variables agree with MPI_COMM_WORLD. Open MPI's universe may have more slots.
environment=$build/tests/interposed/environment
coll_run 5 --dcp 2 -- "$environment" || fail "environment with --dcp"
test "$(grep -c '^rank [0-2] of 3, on the node rank [0-2] of 3$' out)" = 3 || fail "environment's MPI"
for variable in _RANK _SIZE '_\(LOCALRANKID\|LOCAL_RANK\)' '_\(LOCALNRANKS\|LOCAL_SIZE\)'; do
    test "$(grep -c "^[A-Z_]*$variable is " out)" -ge 3 || fail "environment: no $variable"
done
grep ', not ' out && fail "environment with --dcp"
for slots in 5:3 7:7; do
    [ "$launcher" = openmpi ] || break
    coll_run 5 --dcp 2 --host "localhost:${slots%:*}" -- "$environment" || fail "environment with slots"
    test "$(grep -c "^${slots#*:} slots$" out)" = 3 || fail "not ${slots#*:} slots"
done

# If a program opens the MPI library itself, one rank reports it. If it opens the wrapper, the wrapper
# works. Processes that do not initialise MPI print nothing. Hydra mixes the lines of ranks.
opens=$build/tests/interposed/opens
below=$(ldd "$build/.libs/libcoll_pmpi.so" 2>err | sed -n 's/.*=> \([^ ]*libmpi\(ch\)\{0,1\}\.so[^ ]*\) .*/\1/p')
if [ -n "$below" ]; then
    coll_run 3 -- "$opens" || fail "linked with MPI alone"
    test -s err && fail "linked with MPI alone, and the wrapper says something"
    rm -f trace
    coll_run 3 --dcp 1 -- ./traced "$opens" "$below" || fail "opens the MPI library"
    test "$(tr -d '\n' <out)" = ranranran || fail "opens the MPI library with dedicated processors"
    grep -v "^libcoll_pmpi: .*opens [^ ]*libmpi.* open [^ ]*libcoll_pmpi.so in its place$" trace &&
        fail "opens says more"
    test "$(grep -c . trace)" = 1 || fail "opens says it not once"
    coll_run 3 --dcp 1 -- "$opens" "$build/.libs/libcoll_pmpi.so" || fail "opens the wrapper"
    test "$(tr -d '\n' <out)" = ranran || fail "opens the wrapper without dedicated processors"
    test -s err && fail "opens the wrapper and says something"
else
    echo "skipped: a program that opens the MPI library, which is static"
fi

# Several programs in one job all get the library and the settings. The launcher of Debian 13's Open MPI
# 5.0.7 crashes on them.
calls=$build/tests/interposed/calls
preloads="$build/.libs/libcoll_pmpi.so $build/.libs/libcoll_watch.so"
if run -n 1 true : -n 1 true; then
    run -n 2 "$calls" : -n 1 "$calls" || fail "two programs without libcoll"
    sort out >alone
    coll_run 2 --dcp 1 -- "$calls" : -n 2 "$calls" || fail "two programs"
    sort out | diff alone - || fail "two programs"
    coll_run 2 -- "$calls" : -n 1 "$calls" || fail "two programs with the wrapper alone"
    sort out | diff alone - || fail "two programs with the wrapper alone"
else
    echo "skipped: several programs in one job, which this launcher does not start"
    preloads=
fi

# If one program runs without the library, before or after those with it, an error names its rank.
# partial LIBRARY RANK WORDS...: runs mpirun with WORDS. All ranks except RANK have LIBRARY.
partial() {
    missing=$2
    name=$(basename "$1")
    shift 2
    aborting leaky run "$@"
    status=$?
    case $status in
    0 | 124 | 137) fail "rank $missing without $name: status $status" ;;
    esac
    test "$(grep -c "^${name%.so}: rank [0-9]" err)" = 1 || fail "rank $missing without $name: not one line"
    grep -q "^${name%.so}: rank $missing runs without $name: .* LD_PRELOAD" err || fail "rank $missing without $name"
}
for preloaded in $preloads; do
    [ -f "$preloaded" ] || {
        echo "skipped: ranks without $(basename "$preloaded"), which is not made as a shared library"
        continue
    }
    with="env LD_PRELOAD=$preloaded COLL_WATCH=60 COLL_TIMEOUT=5"
    # shellcheck disable=SC2086 # words
    partial "$preloaded" 2 -n 2 $with "$calls" : -n 1 "$calls"
    # shellcheck disable=SC2086
    partial "$preloaded" 0 -n 1 "$calls" : -n 2 $with "$calls"
done

# A preloaded tool comes before libcoll, and sees the program's calls on each rank.
if [ -f "$build/.libs/libcounting.so" ]; then
    tool=$build/.libs/libcounting.so${LD_PRELOAD:+:$LD_PRELOAD}
    LD_PRELOAD=$tool coll_run 4 --dcp 1 -- "$calls" || fail "a tool"
    test "$(grep -c '^counting: calls$' err)" = 3 || fail "a tool sees no calls"
    if [ "$launcher" = openmpi ]; then
        coll_run 4 --dcp 1 -x LD_PRELOAD="$tool" -- "$calls" || fail "a tool by -x"
        test "$(grep -c '^counting: calls$' err)" = 3 || fail "a tool by -x sees no calls"
    fi
else
    echo "skipped: a tool, which is made as a shared library"
fi

# Other things that belong to the program.
# MPICH's launcher, which has forgotten a rank by that time, often reports a failure, also without libcoll.
coll_run 5 --dcp 2 -- "$build/tests/interposed/ends" atexit || [ "$launcher" = mpich ] ||
    fail "MPI_Finalize by atexit"
test "$(grep -c 'finalizes, sum 3$' out)" = 3 || fail "MPI_Finalize by atexit"
printf 'one\ntwo\n' | $limited "$build/coll-run" -n 4 --dcp 1 -- "$build/tests/interposed/ends" \
    stdin >out 2>err || fail "standard input"
printf 'rank 0 read one\nrank 0 read two\n' | diff - out || fail "standard input"

# refuses TEXT RANKS OPTIONS -- PROGRAM: expects an error of one line with TEXT, and no other output.
refuses() {
    text=$1
    shift
    aborting leaky coll_run "$@" && fail "not refused: $*"
    test "$(grep -c '^\(libcoll_pmpi\|coll-run\): ' err)" = 1 || fail "not one line: $*"
    grep -F -q -e "$text" err || fail "no \"$text\": $*"
    test -s out && fail "output: $*"
}
calls=$build/tests/interposed/calls
refuses "COLL_DCP=1:x" 4 --dcp 1:x -- "$calls"
refuses "COLL_DCP=0" 4 --dcp 0 -- "$calls"
refuses "3 of 3" 3 --dcp 3 -- "$calls"
refuses "COLL_DCP=9" 3 --dcp 9 -- "$calls"
COLL_DPC=2 refuses "COLL_DPC" 3 -- "$calls"
refuses "COLL_BCAST=nosuch" 3 --bcast nosuch -- "$calls"
refuses "COLL_GATHER=linear:x=3" 3 --gather linear:x=3 -- "$calls"
refuses "COLL_WRAP: gatherv is no operation; known: all, bcast, gather, allreduce" 3 \
    --wrap scan,gatherv -- "$calls"
refuses "COLL_SCAN=nosuch" 3 --scan nosuch -- "$calls"
COLL_TIMEOUT=soon refuses "COLL_TIMEOUT=soon" 3 -- "$calls"
refuses "needs a value" 3 --dcp -- "$calls"
refuses "no program" 3 --dcp 1
refuses "a second program comes after --" 2 "$calls" : -n 1 -- "$calls"
"$build/coll-run" --dcp 1 -- "$calls" 2>&1 | grep -q "how many ranks" || fail "no ranks are named"
(
    unset OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
    if [ "$(id -u)" = 0 ] && [ "$launcher" = openmpi ]; then
        refuses "set OMPI_ALLOW_RUN_AS_ROOT=1" 3 -- "$calls"
    else
        echo "skipped: what root is refused"
    fi
    [ "$launcher" != openmpi ] || coll_run 3 --allow-run-as-root -- "$calls" || fail "root by an option"
) || exit 1
if [ -f "$build/.libs/libother.so" ]; then
    # libcoll stands aside, and the other libraries stay preloaded.
    leaky $limited "$mpirun" -n 3 "$calls" | sort >alone
    LD_PRELOAD="$build/.libs/libother.so" leaky coll_run 3 --dcp 1 -- "$calls" || fail "another MPI library"
    sort out | diff alone - || fail "another MPI library: other output"
    grep -q '^libcoll_pmpi: stands aside: .* runs with SomeMPI Version: 7.1: build' err || fail "another MPI library: no word"
    test "$(wc -l <err)" = 1 || fail "another MPI library: not one line"
    # The same library with the MPI ABI has other handles.
    name=$(sed -n 's/.* built for \(.*\), but .*/\1/p' err)
    if [ "$name" != "the MPI ABI" ]; then
        COLL_TEST_ABI=1 COLL_TEST_MPI="$name, or so" LD_PRELOAD="$build/.libs/libother.so" leaky coll_run 3 --dcp 1 -- \
            "$calls" || fail "the MPI ABI"
        sort out | diff alone - || fail "the MPI ABI: other output"
        grep -q "^libcoll_pmpi: stands aside: .* runs with the MPI ABI of $name: configure libcoll --with-mpi-abi\$" err ||
            fail "the MPI ABI: no word"
    fi
    LD_PRELOAD="$build/.libs/libother.so" coll_run 1 --dcp 1 -- env || fail "another MPI library: env"
    grep -q "^LD_PRELOAD=$build/.libs/libother.so\$" out || fail "another MPI library: LD_PRELOAD"
else
    echo "skipped: another MPI library, which is made as a shared one"
fi

# The processes of this test have its directory in their command lines.
cp "$build/tests/interposed/ends" ends
printf '%s' "$work" >pattern
running() {
    grep -l -F -f pattern /proc/[0-9]*/cmdline 2>/dev/null
}
# ended WHAT: expects that all of them end.
ended() {
    for _ in $(seq 600); do
        [ -n "$(running)" ] || return 0
        sleep 0.1
    done
    fail "processes are left after $1: $(running)"
}
for rank in 0 2; do
    aborting coll_run 5 --dcp 2 -- "$work/ends" abort $rank
    test $? = 3 || fail "the status of an abort"
    ended "an abort"
done

# Ranks that belong to two dedicated processors call collectives that are handled differently.
aborting coll_run 5 --dcp 2 -- "$work/ends" mismatch && fail "a mismatch is taken"
grep -q 'dedicated processor: rank [0-2] calls .* where rank [0-2] calls ' err || fail "no word of a mismatch"
ended "a mismatch"

# started: waits until a job runs and sleeps. The numbers of its application processes are in out.
started() {
    : >out
    $limited "$build/coll-run" -n 5 --dcp 2 -- "$work/ends" sleep >out 2>err </dev/null &
    for _ in $(seq 600); do
        [ "$(grep -c pid out)" = 3 ] && return
        sleep 0.1
    done
    fail "the program does not start"
}
started
kill -9 "$(sed -n 's/^pid //p' out | head -n 1)"
ended "a killed rank"
started
for process in $(running); do
    process=${process#/proc/}
    process=${process%/cmdline}
    # A dedicated processor is a rank that has not printed.
    tr '\0' ' ' <"/proc/$process/cmdline" | grep -q "^$work/ends" || continue
    grep -q "^pid $process\$" out || dedicated=$process
done
kill -9 "${dedicated:?no dedicated processor}"
ended "a killed dedicated processor"
echo passed
