#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests coll-profile, coll-info and coll-bench as users run them: their output, and one clear line without
# files for every error. No check depends on speed.
set -u
headers=$(cd "$(dirname "$0")/../../include" && pwd)
. "$(dirname "$0")/../support/programs.sh"
# The test does not use profiles of this machine.
unset COLL_PROFILE
export XDG_CONFIG_HOME="$work/config"

# run RANKS PROGRAM ARGUMENTS...: runs a program under mpirun (0 ranks: without it), with its output in out
# and err.
run() {
    ranks=$1
    program=$2
    shift 2
    if [ "$ranks" = 0 ]; then
        $limited "$build/$program" "$@" >out 2>err </dev/null
    else
        $limited "$mpirun" -n "$ranks" "$build/$program" "$@" >out 2>err </dev/null
    fi
}

# refuses TEXT PROGRAM ARGUMENTS...: expects an error with one line that has TEXT, and no files, at each of
# $counts.
counts="1 3"
refuses() {
    text=$1
    program=$2
    shift 2
    for n in $counts; do
        mkdir results
        run "$n" "$program" "$@"
        status=$?
        case $status in 0 | 124) fail "status $status with $n ranks: $program $*" ;; esac
        test "$(grep -c "^$program: " err)" = 1 || fail "not one line with $n ranks: $program $*"
        grep -F -q -e "$text" err || fail "no \"$text\" with $n ranks: $program $*"
        test -s out && fail "output with $n ranks: $program $*"
        rmdir results || fail "files are left with $n ranks: $program $*"
    done
}

# These work without mpirun and MPI.
for program in coll-profile coll-info coll-bench; do
    "$build/$program" --help | grep -q -- '--json' || fail "$program --help"
    "$build/$program" --version | grep -q "^$program .*[0-9]\.[0-9]" || fail "$program --version"
done

# libcoll.so exports exactly what its headers declare.
if [ -e "$build/.libs/libcoll.so" ]; then
    nm -D --defined-only "$build/.libs/libcoll.so" | awk '$2 ~ /[A-Z]/ {print $3}' | sort >exported
    sed -n '/^typedef/d; s/^[A-Za-z].*[ *]\(\(COLL\|DCP\)_[A-Za-z_]*\)(.*/\1/p' \
        "$headers/coll.h" "$headers/coll_tools.h" "$headers/coll_component.h" | sort >declared
    diff declared exported || fail "libcoll.so exports other names than its headers declare"
fi

# With another MPI library than the one it was built for, it reports that.
if [ -f "$build/.libs/libother.so" ] && [ -e "$build/.libs/libcoll.so" ]; then
    LD_PRELOAD="$build/.libs/libother.so" "$build/coll-info" >out 2>err && fail "another MPI library is taken"
    grep -q '^libcoll: built for .*, but the program runs with SomeMPI Version: 7.1: ' err || fail "another MPI library"
    test "$(wc -l <err)" = 1 || fail "not one line for another MPI library"
else
    echo "skipped: another MPI library, which is made as a shared one"
fi

# The library reads the profile back and takes its values from it.
run 3 coll-profile --output p --json p.json --seconds 0.2 --noise 1e9 || fail "coll-profile"
grep -q '^[a-z]*  *L  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9.]*$' out || fail "L in the table"
grep -q '^memory  *Mmtm ' out || fail "copies in the table"
test "$(head -n 1 p)" = "libcoll-profile 3" || fail "first line of the profile"
run 3 coll-profile --output o --seconds 0.2 --noise 1e9 --no-flood --trials 5 --operations bcast || fail "retired options"
grep -q '^coll-profile: --trials and --operations do nothing' err || fail "what is said of retired options"

# If stderr is not a terminal, progress is printed as whole lines, by one rank.
run 3 coll-profile --output o --seconds 0.2 --noise 1e9 --no-flood --progress-every 0 ||
    fail "coll-profile --progress-every"
test "$(grep -c '^# [a-z]*: pairs, up to [0-9]* s left$' err)" -ge 1 || fail "progress of coll-profile"
test "$(grep -c '^# memory' err)" = 1 || fail "progress of coll-profile: once"
run 3 coll-bench bcast --sizes 64,128 --reps 3 --progress-every 0 || fail "coll-bench --progress-every"
test "$(grep -c '^# bcast of 64 bytes: 2 rounds, [0-9]* s, up to [0-9]* s left$' err)" = 1 ||
    fail "progress of coll-bench"
grep -q "$(printf '\r')" err && fail "carriage returns in a pipe"
# All ranks are on one host, and thus at one site: hlot is omitted unless it is named, and then native runs.
grep -q '^hlot ' out && fail "coll-bench: hlot on one host"
run 3 coll-bench bcast --sizes 64 --reps 2 --algorithms hlot || fail "coll-bench --algorithms hlot"
grep -q "^coll: hlot was asked for, but can't run the bcast here: all ranks are on one host; native" err ||
    fail "coll-bench --algorithms hlot: no warning"
COLL_BCAST=chain:confirm=1 run 3 coll-bench started --size 4K --reps 2 || fail "coll-bench started by chain"
test "$(grep -v "^# " err)" = "coll: chain was asked for, but can't run a nonblocking or persistent bcast here: \
only blocking operations can use it; binomial runs instead" || fail "coll-bench started by chain: no warning"
rm o
test "$(tail -n 1 p)" = end || fail "last line of the profile"
grep -q "^hosts $(uname -n)\$" p || fail "hosts of the profile"
for level in $(sed -n 's/^level \([a-z]*\) .*/\1/p' p); do
    grep -q "^{\"level\": \"$level\", \"pairs\": 1, .*\"kept\": 1}\$" p.json || fail "row of $level"
    for parameter in Os gs L gr Or Ur; do
        grep -q "^{\"level\": \"$level\", \"parameter\": \"$parameter\", .*\"kept\": 1}\$" p.json ||
            fail "$parameter of $level in the rows"
        grep -q "^curve $level $parameter error [^ ]* at [0-9]" p || fail "$parameter of $level"
    done
done
for copy in Mctc Mctm Mmtm; do
    grep -q "^copy $copy error [^ ]* at 64 " p || fail "$copy"
done
if command -v gnuplot >/dev/null; then
    run 2 coll-profile --output q --seconds 0.2 --noise 1e9 --no-flood --plot q.png || fail "a plot"
    test "$(head -c 4 q.png | tail -c 3)" = PNG || fail "the plot is a picture"
    test "$(wc -c <q.png)" -lt 200000 || fail "the plot is too large"
    refuses "nowhere/q.png: can't be written" coll-profile --output results/q --plot nowhere/q.png
    # Another user may have put a link where the name of a temporary file can be guessed.
    # shellcheck disable=SC2016
    $limited "$mpirun" -n 2 sh -c 'ln -s victim "r.png.$$.part"; exec "$@"' - \
        "$build/coll-profile" --output q --seconds 0.2 --noise 1e9 --no-flood --plot r.png \
        >out 2>err </dev/null || fail "a plot beside a link"
    test -e victim && fail "a link is written through"
    rm -f r.png.*.part
else
    echo "skipped: plots, for want of gnuplot"
fi
ls ./*part .*.coll-* 2>/dev/null && fail "temporary files are left"
COLL_PROFILE=p run 2 coll-info || fail "coll-info with a profile"
grep -q '^profile  *p$' out || fail "the profile's name"
test "$(grep -c '^[a-z].* measured$' out)" = "$(grep -c '^level ' p)" || fail "measured levels"
mkdir -p config/libcoll && mv p config/libcoll/profile
run 0 coll-info || fail "coll-info with a profile that is found"
grep -q "^profile  *$work/config/libcoll/profile\$" out || fail "the found profile's name"
rm -r config

# coll-info prints once, with or without mpirun.
for n in 0 3; do
    run $n coll-info --json j || fail "coll-info at $n ranks"
    test "$(grep -c '^libcoll  *[0-9]' out)" = 1 || fail "printed once at $n ranks"
    grep -q '^profile  *built-in$' out || fail "built-in"
    grep -q '^bcast  *chain:segment=0,window=0,' out || fail "algorithms"
    grep -q '^COLL_PROFILE  *- ' out || fail "settings"
    test "$(wc -l <j)" = 6 || fail "a line for the machine and one for each level"
done
COLL_BCAST=linear run 2 coll-info || fail "coll-info with a setting"
grep -q '^COLL_BCAST  *linear ' out || fail "the setting in force"

# algorithms: each with its parameters, their bounds and what they mean.
run 0 coll-info algorithms bcast --json j || fail "algorithms"
sed -n '/^bcast  *chain:/,/^bcast  *circulant/p' out >chain
grep -q '^ *segment  *0 to 1G  *[a-z]' chain || fail "algorithms: segment of chain"
grep -q '^ *retry  *0 to [0-9]*  *[a-z]' chain || fail "algorithms: retry of chain"
[ "$(wc -l <j)" = "$(grep -c '^bcast ' out)" ] || fail "algorithms: JSON"
grep -q '"algorithm": "chain", .*"parameters": "segment  *0 to 1G  *[a-z]' j || fail "algorithms: JSON of chain"
run 2 coll-info algorithms || fail "algorithms of all operations"
[ "$(grep -o '^[a-z_][a-z_]*' out | sort -u | wc -l)" = 15 ] || fail "algorithms of all operations, and a heading"
refuses "unknown operation nosuch; known: bcast" coll-info algorithms nosuch
refuses "algorithms takes one operation: drop gather" coll-info algorithms bcast gather
refuses "belong to explain OPERATION SIZE" coll-info algorithms bcast --ranks 3

# explain: sorted, one chosen, and why.
run 0 coll-info explain bcast 64M --ranks 100 --root 99 --json j || fail "explain"
test "$(grep -c '^\* .*  chosen: good on slow and fast networks; none was measured$' out)" = 1 || fail "one is chosen"
sed -n '3,$s/^[* ] [^ ]* *\([0-9.]*\).*/\1/p' out >seconds
test "$(wc -l <seconds)" = "$(wc -l <j)" || fail "a time for each"
grep . seconds | sort -n -c || fail "fastest first: $(cat seconds)"
grep '"algorithm": "chain"' j | grep -q '"model_us": [1-9]' || fail "explain: a plan without a price"
run 2 coll-info explain bcast 1K || fail "explain on one node"
grep -q '^\* native .*  chosen: all ranks on one node$' out || fail "native on one node"
grep -q '^# on one node the MPI library' out || fail "the rule for one node"
COLL_BCAST=chain:chunk=8K run 2 coll-info explain bcast 1K || fail "explain the user's word"
grep -q "^\* chain:segment=8K,window=0,confirm=0,retry=2 .*  chosen: it was asked for\$" out || fail "the user's word"
run 0 coll-info explain allreduce 1M --ranks 25 --racks 5 || fail "explain --racks"
grep -q '^# as if 25 ranks were spread over 5 racks, 1 a node$' out || fail "explain --racks"
grep -q '^[* ] ring:' out || fail "explain allreduce"
# If there are many ranks, only some are simulated, which represent all. Plans must have a predicted time.
run 0 coll-info explain allreduce 1K --ranks 16384 --racks 512 --sites 16 --json j || fail "explain --sites"
grep -q '^# as if 16384 ranks were spread over 512 racks of 16 sites, 1 a node$' out || fail "explain --sites"
grep -q ' played_us  *host_bytes  *rack_bytes  *site_bytes$' out || fail "what is played is told"
grep '"algorithm": "recursive_doubling"' j | grep -q '"played_us": [1-9]' || fail "a plan that isn't priced"
grep '"algorithm": "recursive_doubling"' j | grep -q '"host_bytes": 14336, "rack_bytes": 294912, "site_bytes": 4194304,' ||
    fail "bytes over the busiest links"
run 1 coll-info explain aggregate 1M --ranks 9 || fail "explain aggregate"
grep -q 'chosen: sizes differ by rank$' out || fail "the size of an aggregate"

# All errors.
echo nonsense >damaged
refuses "--output FILE is missing" coll-profile
counts=0
refuses "option --output needs a value" coll-profile --output
refuses "unknown option --outptu" coll-profile --outptu results/p
refuses "unexpected argument extra" coll-profile --output results/p extra
counts=3
refuses "nowhere/p: can't be written: directory nowhere: No such file" coll-profile --output nowhere/p
refuses "the name of a file to be written is empty" coll-profile --output ""
counts=0
refuses "/dev/null: can't be written: it is no regular file" coll-profile --output /dev/null
refuses "results: can't be written: it is no regular file" coll-profile --output results
refuses "nowhere/j: can't be written" coll-profile --output results/p --json nowhere/j
for seconds in 0 -1 x nan 1e9; do
    refuses "--seconds $seconds: a number above 0" coll-profile --output results/p --seconds $seconds
done
refuses "--noise 0: a number above 0" coll-profile --output results/p --noise 0
refuses "one rank has nobody to measure against" coll-profile --output results/p
refuses "--noise 1e300: a number above 0" coll-profile --output results/p --noise 1e300
refuses "--seconds given twice" coll-profile --output results/p --seconds 1 --seconds 2
refuses "--output results/p and --json ./results/p name the same file" \
    coll-profile --output results/p --json ./results/p
echo old >kept
refuses "one rank has nobody to measure against" coll-profile --output results/p --json kept
test "$(cat kept)" = old || fail "an old file is touched by a failure"
counts="1 3"
refuses "unknown command explian; known: explain" coll-info explian bcast 1M
counts=0
refuses "explain needs an operation and a size" coll-info explain bcast
refuses "unexpected argument 2M" coll-info explain bcast 1M 2M
refuses "unknown operation scater" coll-info explain scater 1M
refuses "unknown operation scater" coll-info explain scater 1M --json kept
test "$(cat kept)" = old || fail "an old file is touched by a failure"
refuses "--ranks given twice" coll-info explain bcast 1M --ranks 5 --ranks 6
run 0 coll-info --json /dev/stdout || fail "JSON to standard output"
grep -q '^{"version": ' out && grep -q '^libcoll  *[0-9]' out || fail "JSON and table"
for size in 0 x -1 1.5M 99999999T; do
    refuses "$size is no size" coll-info explain bcast -- $size
done
refuses "--ranks 0: a number from 1" coll-info explain bcast 1M --ranks 0
refuses "root 5 of 5 ranks" coll-info explain bcast 1M --ranks 5 --root 5
run 1 coll-info explain allreduce 1M --ranks 5 --root 5 || fail "a root that an allreduce doesn't have"

# explain dcp applies the paper's condition to an account.
account() {
    echo "coll: account ranks=10 dcps=0 Tcomp=8.0 Tcoll=3.5 Tpoint=1.0 collectives=9.0 $*"
}
account Tserved=3.5 Tstarted=0.0 Tcpu=8.0 >account
run 0 coll-info explain dcp account --json j || fail "explain dcp"
grep -q "as it is: DCPs pay from 1:8 on" out || fail "explain dcp: blocking"
grep -q "overlapped all that they serve: DCPs pay from 1:3 on" out || fail "explain dcp: overlapped"
grep -q '"served": 4, "now_s": 12.5, "with_s": 13.45, "overlapped_s": 11' j || fail "explain dcp: JSON"
# Nonblocking collectives are hidden; other collectives are unchanged.
account Tserved=1.0 Tstarted=2.0 Tcpu=8.0 >partly
run 0 coll-info explain dcp partly --json j || fail "explain dcp: partly served"
grep -q '"served": 4, "now_s": 12.5, "with_s": 12.2, "overlapped_s": 11.5' j || fail "explain dcp: partly served"
# Computation cannot hide more time than it takes.
account Tserved=0.0 Tstarted=3.5 Tcpu=0.8 | sed s/Tcomp=8.0/Tcomp=0.8/ >brief
run 0 coll-info explain dcp brief --json j || fail "explain dcp: little to hide behind"
grep -q '"served": 4, "now_s": 5.3, "with_s": 3.45, "overlapped_s": 2' j || fail "explain dcp: little to hide behind"
# Ranks with half a processor each lose nothing if at least one in two computes.
account Tserved=3.5 Tstarted=0.0 Tcpu=4.0 >crowded
run 0 coll-info explain dcp crowded --json j || fail "explain dcp: shared processors"
grep -q "as it is: DCPs pay from 1:1 on" out || fail "explain dcp: shared processors"
grep -q '"served": 4, "now_s": 12.5, "with_s": 12.2375, "overlapped_s": 10.75' j || fail "explain dcp: shared processors"
account Tserved=3.5 Tstarted=0.0 Tcpu=7.0 >nearly
run 0 coll-info explain dcp nearly --json j || fail "explain dcp: shared a little"
grep -q '"served": 4, "now_s": 12.5, "with_s": 12.4460937, "overlapped_s": 10.1875' j || fail "explain dcp: shared a little"
# They cannot hide more time than they have a processor.
account Tserved=0.0 Tstarted=3.5 Tcpu=2.0 >waiting
run 0 coll-info explain dcp waiting --json j || fail "explain dcp: shared, and nothing to hide"
grep -q '"served": 4, "now_s": 12.5, "with_s": 11.625, "overlapped_s": 11.625' j || fail "explain dcp: shared, and nothing to hide"
refuses "explain dcp needs one file" coll-info explain dcp
refuses "--json ./account: is also read, as TRACE account" coll-info explain dcp account --json ./account
refuses "--share given twice" coll-info explain dcp account --share 0.1 --share 0.2
refuses "no line" coll-info explain dcp j
account >before
refuses "no line" coll-info explain dcp before
refuses "nowhere: can't be opened: No such file" coll-info explain dcp nowhere
refuses "--share 2: a number from 0 to 1" coll-info explain dcp account --share 2
# The file may end within a line.
{
    cat account
    account Tserved=1.0 Tstarted=2.0 Tcpu=8.25 | sed s/Tcomp=8.0/Tcomp=9.0/ | head -c -3
} >ends_early
run 0 coll-info explain dcp ends_early --json j || fail "explain dcp: an incomplete line"
grep -q '"served": 4, "now_s": 12.5, "with_s": 13.45,' j || fail "explain dcp: an incomplete line"
sed 's/dcps=0/dcps=2/' account >served
refuses "had 2 DCPs already" coll-info explain dcp served

# coll-profile --dcp: ratios until one serves all or 64, and what the traced program would take.
run 4 coll-profile --dcp --reps 10 --trace account --output j --progress-every 0 || fail "coll-profile --dcp"
[ "$(wc -l <j)" = 4 ] || fail "coll-profile --dcp: ratios"
[ "$(grep -c '^# round [1-5] of 5, dcp \(none\|1:[124]\)$' err)" = 20 ] || fail "progress of coll-profile --dcp"
grep -q '"dcp": "none", "ranks": 4.*"share": 1, .*"with_s": 12.5' j || fail "coll-profile --dcp: none"
# MPI_Allreduce blocks: all its time is overhead.
sed -n 's/.*"dcp": "none".*"latency_us": \([0-9.e+-]*\), "overhead_us": \([0-9.e+-]*\),.*/\1 \2/p' j |
    awk '$1 > 0 && $1 == $2 { same = 1 } END { exit !same }' || fail "coll-profile --dcp: overhead of none"
"$build/coll-profile" --dcp --help | grep -q 'until one serves all, or 64' || fail "coll-profile --dcp --help"
grep -q '"dcp": "1:4", "ranks": 3' j || fail "coll-profile --dcp: the last ratio"
for what in latency "the program, as it is" "the program, overlapped"; do
    grep -q "^# $what: \(best with 1:[124], \|DCPs don't pay\)" out || fail "coll-profile --dcp: $what"
done
refuses "no line" coll-profile --dcp --trace j
counts=2
refuses "/nosuch: can't be opened: No such file" coll-profile --dcp --trace /nosuch
refuses "/: can't be opened: Is a directory" coll-profile --dcp --trace /
mkfifo pipe
refuses "pipe: can't be opened: not a regular file" coll-profile --dcp --trace pipe
counts=0
refuses "pipe: can't be opened: not a regular file" coll-info explain dcp pipe
counts=3 refuses "--output account: is also read, as --trace account" \
    coll-profile --dcp --trace account --output account
refuses "--reps given twice" coll-profile --dcp --reps 1 --reps 2
counts=1 refuses "one rank has nothing to reduce" coll-profile --dcp --output results/j
counts=3 refuses "nowhere/j: can't be written" coll-profile --dcp --output nowhere/j
refuses "--reps 0: a number from 1" coll-profile --dcp --reps 0
refuses "unknown option --frob" coll-profile --dcp --frob

# coll-bench gather verifies the data, and counts dropped packets with a command.
for operation in gather gatherv; do
    run 3 coll-bench $operation --sizes 4,4K --reps 3 --verify --predict --drops "echo 7" \
        --algorithms "auto linear binomial window credit" --json j || fail "coll-bench $operation"
    [ "$(grep -c "\"op\": \"$operation\".*\"dropped\": 0" j)" = 14 ] || fail "coll-bench $operation: rows"
    # Each size has three calls, and one for warming up.
    [ "$(grep -c '"algorithm": "auto".*"calls_us": "[0-9.]* [0-9.]* [0-9.]* [0-9.]*"' j)" = 2 ] ||
        fail "coll-bench $operation: calls_us"
done
refuses "--drops" coll-bench gather --sizes 4 --drops "echo many"
# The three contenders run COMMAND 24 times at least.
run 3 coll-bench gather --sizes 4 --reps 3 --algorithms "linear binomial" --no-native --json j \
    --drops 'echo >>counts; [ "$(wc -l <counts)" -lt 12 ] && echo 7' || fail "--drops fails later"
[ "$(grep -c '"dropped": null' j)" = 3 ] || fail "--drops fails later: rows"

# --most repeats that often, even if times are steady. --give-up measures all algorithms once, and always
# repeats auto.
run 3 coll-bench bcast --sizes 4,4K --most 7 --give-up 1 --json j || fail "coll-bench --most"
[ "$(grep -c '"algorithm": "auto".*"reps": 7,' j)" = 2 ] || fail "coll-bench --most: auto"
[ "$(grep -c '"reps": [17],' j)" = "$(wc -l <j)" ] || fail "coll-bench --give-up: repetitions"
run 3 coll-bench bcast --sizes 4 --most 1100 --seconds 300 --algorithms chain --no-native --json j ||
    fail "coll-bench --most 1100"
grep -q '"algorithm": "chain".*"reps": 1100,' j || fail "coll-bench --most 1100: repetitions"
refuses "--reps and --most" coll-bench bcast --sizes 4 --reps 2 --most 7

# The same for the other operations, and with all algorithms that MPI can be forced to run. Open MPI's
# component tuned is controlled by variables; that for allgatherv is constant, and scatterv has none. Sizes are
# rounded to floats, or are the sum of all blocks; a barrier has none.
for operation in allreduce reduce reduce_scatter reduce_scatter_block allgather allgatherv alltoall \
    alltoallv scatter scatterv barrier scan exscan; do
    run 3 coll-bench $operation --sizes 63,64,4K --reps 2 --verify --rivals --json j ||
        fail "coll-bench $operation"
    sizes=$(sed -n 's/.*"algorithm": "auto".*"bytes": \([0-9]*\),.*/\1/p' j | tr '\n' ' ')
    case $operation in
    barrier) wanted="0 " ;;
    *reduce* | *scan) wanted="64 4096 " ;;
    *) wanted="63 64 4096 " ;;
    esac
    [ "$sizes" = "$wanted" ] || fail "coll-bench $operation: sizes $sizes"
    grep -q 'failed' out && fail "coll-bench $operation: $(grep failed out)"
    case $launcher:$operation in
    openmpi:allgatherv | openmpi:scatterv) ;;
    openmpi:*)
        grep -v -e ompi_han -e ompi_adapt j | grep -q '"algorithm": "ompi_' || fail "coll-bench $operation: no rivals"
        ;;
    esac
done
run 3 coll-bench alltoall --sizes 3000 --reps 1 --total --json j || fail "coll-bench --total"
grep -q '"algorithm": "auto".*"bytes": 3000, ' j || fail "coll-bench --total: size"

# One rank waits for no other, and has its own data.
for operation in bcast gather gatherv; do
    run 1 coll-bench $operation --sizes 4,64K --reps 2 --verify || fail "coll-bench $operation on one rank"
done

# coll-bench started prints a row for each way of calling.
run 3 coll-bench started --size 4K --reps 3 --json j --progress-every 0 || fail "coll-bench started"
[ "$(grep -c '^# [a-z-]*: [0-2] of 3 repetitions$' err)" = 21 ] || fail "progress of coll-bench started"
[ "$(grep -c '"op": "started".*"ranks": 3' j)" = 7 ] || fail "coll-bench started: rows"
run 3 coll-bench started alltoallv --size 1K --reps 2 --json j || fail "coll-bench started alltoallv"
[ "$(grep -c '"ranks": 3, "bytes": 1024, "started": "alltoallv"' j)" = 7 ] || fail "coll-bench started alltoallv: rows"
refuses "unknown operation scater" coll-bench started scater
run 1 coll-bench started --size 4K --reps 1 --compute || fail "coll-bench started on one rank"
refuses "--size" coll-bench started --size x

# coll-bench dcp prints a row for each scheme, and rows without dedicated processors.
run 3 coll-bench dcp --dcp 1:2,2 --sizes 8 --compute 0,5 --reps 20 --json j --progress-every 0 || fail "coll-bench dcp"
[ "$(grep -c '"op": "dcp"' j)" = 22 ] || fail "coll-bench dcp: rows"
[ "$(grep -c '^# [a-z-]* with dcp [a-z0-9:]*: 8 bytes, [05] us of computation$' err)" = 22 ] ||
    fail "progress of coll-bench dcp"
[ "$(grep -c '"algorithm": "dcp", "params": "1:2", "ranks": 2' j)" = 2 ] || fail "coll-bench dcp: ranks"
refuses "--dcp LIST is missing" coll-bench dcp
refuses "--dcp given twice" coll-bench dcp --dcp 1 --dcp 2
refuses "COLL_DCP=2:1: write 1:4" coll-bench dcp --dcp 2:1
refuses "more dedicated processors than ranks" coll-bench dcp --dcp 99
refuses "--sizes: 12: a multiple of 8" coll-bench dcp --dcp 1 --sizes 12
refuses "unknown option --frob" coll-bench dcp --frob

refuses "--ranks, --racks, --sites, --root and --events belong to explain" coll-info --ranks 5
refuses "--sites 4: give --racks, too: a multiple of it" coll-info explain bcast 1M --ranks 9 --sites 4
refuses "--sites 4: give --racks, too: a multiple of it" coll-info explain bcast 1M --ranks 9 --racks 6 --sites 4
refuses "--events -1: a number from 0" coll-info explain bcast 1M --events -1
counts="0 3"
refuses "nowhere/j: can't be written" coll-info --json nowhere/j
counts="1 3"
refuses "x is no size" coll-bench bcast --sizes x
counts=0
for size in 0 0-4K -1 1.5K 9E 20000000000000000000; do
    refuses "$size is no size" coll-bench bcast --sizes $size
done
refuses "8K-4K is no size" coll-bench bcast --sizes 8K-4K
refuses "--sizes: the list is empty" coll-bench bcast --sizes ,
counts="1 3"
refuses "nonsense: unknown algorithm; allowed: auto, native" coll-bench bcast --sizes 1K --algorithms nonsense
counts=0
refuses "chain:window=2,window=3: window is there twice" coll-bench bcast --algorithms chain:window=2,window=3
refuses "window=2K" coll-bench bcast --sizes 1K --algorithms chain:window=2K
counts="1 3"
refuses "nowhere/j: can't be written" coll-bench bcast --sizes 1K --json nowhere/j
counts=0
refuses "--root 7: there are" coll-bench bcast --sizes 1K --root 7
refuses "--reps 0: a number from 1" coll-bench bcast --reps 0
refuses "no operation; known: bcast, gather, gatherv, allreduce, " coll-bench
refuses "unknown operation scater; known: bcast" coll-bench scater
refuses "unexpected argument gather" coll-bench bcast gather
refuses "--reps given twice" coll-bench bcast --reps 1 --reps 2
refuses "--seconds 1e300: a number from 0 to 1e+09" coll-bench bcast --seconds 1e300
refuses "unknown option --sise" coll-bench bcast --sise 1K

# An invalid profile is an error in every program.
cat <<END >foreign
libcoll-profile 3
date 2026-11-20T07:13:54Z
hosts elsewhere[0-9]
level rack latency_s 1e-5 overhead_s 1e-6 per_byte_s 1e-9
end
END
head -n 4 foreign >truncated
refuses_profile() {
    COLL_PROFILE=$1
    export COLL_PROFILE
    refuses "$2" coll-info
    refuses "$2" coll-bench bcast --sizes 1K
    unset COLL_PROFILE
}
counts="0 3"
refuses_profile foreign "profile foreign, line 3: measured on other hosts (elsewhere[0-9])"
counts=0
refuses_profile truncated "profile truncated, line 4: the file is truncated"
refuses_profile damaged "profile damaged, line 1: not a profile"
refuses_profile missing "profile missing: no such file"
refuses_profile . "cannot read profile .: Is a directory"
refuses_profile pipe "cannot read profile pipe: not a regular file"
COLL_TOPOLOGY=pipe refuses "cannot read topology file pipe: not a regular file" coll-info
COLL_TOPOLOGY=/dev/zero refuses "cannot read topology file /dev/zero: not a regular file" coll-info
COLL_GUARD=1 run 2 coll-info || fail "a retired setting"
test "$(grep -c '^coll: COLL_GUARD does nothing any more' err)" = 1 || fail "a retired setting: $(cat err)"
COLL_TRACE=yes refuses "COLL_TRACE=yes: must be 0 or 1" coll-info
COLL_TIMEOUT=1e308 refuses "COLL_TIMEOUT=1e308: must be seconds" coll-info

# A cached topology is read again. If it is damaged, it is measured again, which is reported once.
export XDG_CACHE_HOME="$work/cache" COLL_TOPOLOGY=auto
run 3 coll-info || fail "a measured topology"
grep -q '^topology  *auto$' out || fail "the topology's name"
kept=$(echo cache/libcoll/topology-*.conf)
cp "$kept" good
for damage in nonsense 'SwitchName=rack0 Nodes=elsewhere' ''; do
    echo "$damage" >"$kept"
    run 3 coll-info || fail "a damaged topology: $damage"
    grep -v '^# libcoll' good >wanted
    grep -v '^# libcoll' "$kept" | cmp - wanted || fail "not measured again: $damage"
    test "$(grep -c '^coll: the cached topology is damaged and is measured again: ' err)" = 1 ||
        fail "not said once: $damage"
    run 3 coll-info || fail "the topology after it"
    test -s err && fail "words about a good topology"
done
rm "$kept" && mkfifo "$kept"
run 3 coll-info || fail "a pipe for a topology"
test -f "$kept" || fail "the pipe is replaced"
unset COLL_TOPOLOGY

# The tuning database is shown and deleted.
run 0 coll-info learnt || fail "nothing learnt"
grep -q '/cache/libcoll/learnt: nothing has been learnt$' out || fail "nothing learnt: $(cat out)"
echo 'libcoll-learnt 3' >cache/libcoll/learnt
run 0 coll-info learnt || fail "what is learnt"
tail -n +2 out | cmp - cache/libcoll/learnt || fail "what is learnt: $(cat out)"
run 0 coll-info learnt --forget || fail "what is forgotten"
test -e cache/libcoll/learnt && fail "it is not forgotten"
run 0 coll-info learnt --forget || fail "nothing to forget"
counts=0
refuses "unexpected argument nonsense" coll-info learnt nonsense
HOME='' XDG_CACHE_HOME='' refuses "set HOME or XDG_CACHE_HOME" coll-info learnt
COLL_LEARN=yes refuses "COLL_LEARN=yes: allowed: 0, 1, all" coll-info

# Programs whose output is lost say so. With MPICH a program that mpirun hasn't started has an mpiexec of its own,
# which writes its output.
lost() {
    $limited "$build/$1" $2 --json lost.json >/dev/full 2>err </dev/null && fail "a full disk: $*"
    [ "$(grep -c "^$1.*: the output can't be written" err)" = 1 ] || fail "a full disk is not named: $*"
    [ ! -e lost.json ] || fail "a full disk: JSON is left: $*"
}
if [ "$launcher" != mpich ]; then
    lost coll-info ""
    lost coll-info "explain dcp account"
    lost coll-bench "bcast --sizes 4 --reps 2"
    lost coll-bench "started --size 4K --reps 1"
    $limited "$build/coll-info" learnt >/dev/full 2>err && fail "a full disk: learnt"
    grep -q "^coll-info: the output can't be written: " err || fail "a full disk is not named: learnt"
fi
echo "all as it should be"
