#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests the report at MPI_Finalize, in linked programs, under coll-run and with the component: its figures are
# those of the program, a seeded late rank is named and nobody else, and silent ranks do not stop the job.
set -u
. "$(dirname "$0")/../support/programs.sh"
export COLL_PROFILE=built-in XDG_CACHE_HOME="$work/cache"
linked=$build/tests/report/linked
late=$build/tests/report/late

# run RANKS COMMAND...: runs a program on RANKS ranks, with its output in the files out and err.
run() {
    ranks=$1
    shift
    $limited "$mpirun" -n "$ranks" "$@" >out 2>err </dev/null
}

# row FILE OPERATION KEY: prints the value of KEY in the first row of OPERATION.
row() {
    sed -n "s/^ *{\"operation\": \"$2\", \"from.*\"$3\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$1" | head -n 1
}

# arrivals FILE KEY: prints the value of KEY in the first of the arrivals.
arrivals() {
    sed -n "s/^ *{\"operation\": \"[a-z_]*\", \"ranks.*\"$2\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$1" | head -n 1
}

# same WHAT IS EXPECTED
same() {
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}

# adds_up FILE: the time in allreduces is what the program has measured, or a bit less.
adds_up() {
    echo "$(row "$1" allreduce seconds) $(head -n 1 out)" |
        awk '{ exit !($1 > 0.5 * $2 && $1 <= 1.01 * $2) }' ||
        fail "$1: $(row "$1" allreduce seconds) s, but the program measured $(cat out)"
}

# check FILE RANKS CALLS ALGORITHM LATE: checks FILE, and that it names the rank LATE, or nobody.
check() {
    [ -s "$1" ] || fail "no report"
    if command -v python3 >/dev/null; then
        python3 -m json.tool "$1" >/dev/null 2>err || fail "$1 is not JSON"
    fi
    same calls "$(row "$1" allreduce calls)" "$3"
    same bytes "$(row "$1" allreduce bytes)" $((24000 * $3))
    same algorithm "$(row "$1" allreduce algorithm)" "$4"
    adds_up "$1"
    [ "$2" -gt 1 ] || return 0
    same events "$(arrivals "$1" calls)" "$3"
    if [ -n "$5" ]; then
        same late "$(arrivals "$1" late)" rank
        same rank "$(arrivals "$1" rank)" "$5"
    else
        same late "$(arrivals "$1" late)" nobody
        grep -q '"rank"' "$1" && fail "$1 names somebody"
    fi
}

# --- Linked programs ---
for ranks in 1 2 7; do
    COLL_REPORT=r.json COLL_ALLREDUCE=ring run $ranks "$linked" -1 0 30 || fail "$ranks ranks"
    case $ranks in 1) algorithm=native ;; *) algorithm=ring ;; esac
    check r.json $ranks 30 $algorithm ""
done
COLL_REPORT=r.json COLL_ALLREDUCE=ring run 5 "$linked" 3 25 30 || fail "a late rank"
check r.json 5 30 ring 3
grep -q '^ *{"kind": "late rank", "rank": 3, "host": ".*"gain_seconds": 0\.[5-9]' r.json || fail "no recommendation"
COLL_REPORT=r.svg COLL_ALLREDUCE=ring run 3 "$linked" 1 25 30 || fail "as a drawing"
head -n 1 r.svg | grep -q '^<svg ' && tail -n 1 r.svg | grep -q '^</svg>$' || fail "no drawing"
grep -q '>allreduce 16384 B, ring</text>' r.svg && grep -q '; give it less work' r.svg || fail "the drawing lacks a row"
if command -v python3 >/dev/null; then
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("r.svg")' 2>err || fail "r.svg is not XML"
fi
# As text, on stderr; the MPI library's own.
COLL_REPORT=1 run 3 "$linked" 1 25 30 || fail "as text"
grep -q '^allreduce  *16K  *30 .* native ' err || fail "no row"
grep -q 'rank 1 (host .*) arrived last in .* of 30 calls' err || fail "rank 1 is not named"
grep -q '^libcoll left all calls to the MPI library: all ranks on one node$' err || fail "no reason"
[ "$(awk '{ print length }' err | sort -n | tail -n 1)" -le 100 ] || fail "too long a line"
COLL_REPORT=r.txt run 3 "$linked" -1 0 30 || fail "as text in a file"
test -s err && fail "something on stderr, too"
grep -q '^libcoll left all calls' r.txt || fail "no text in the file"
for off in "" 0; do
    COLL_REPORT=$off run 2 "$linked" -1 0 3 || fail "without a report"
    test -s err && fail "a report with COLL_REPORT=$off"
done
# A rank that takes no part in libcoll's calls; one that finalizes too late; one that aborts.
COLL_REPORT=1 run 3 "$linked" -1 0 30 alone || fail "a rank alone"
grep -q '^libcoll .* on 2 ranks, 1 host$' err || fail "not of two ranks"
COLL_TIMEOUT=2 COLL_REPORT=1 run 3 "$linked" -1 0 30 asleep || fail "a rank asleep"
# On a busy machine others may be late, too.
grep -q '^rank [12].* did not report in time and .* left out$' err || fail "rank 2 is not left out"
COLL_REPORT=1 aborting run 3 "$linked" -1 0 30 abort && fail "no status of an abort"
[ $? -lt 124 ] || fail "hangs after an abort"
# refuses TEXT: expects that COLL_REPORT is refused with TEXT. On a busy machine Open MPI sometimes loses the output
# of ranks that abort: then a line has ORTE_ERROR_LOG.
refuses() {
    for try in 1 2 3 4 5; do
        aborting run 2 "$linked" -1 0 3 && fail "COLL_REPORT=$COLL_REPORT is taken"
        grep -q "ORTE_ERROR_LOG" err || break
    done
    grep -q -F "COLL_REPORT=$COLL_REPORT: $1" err || fail "COLL_REPORT=$COLL_REPORT: another message, try $try"
}
for wrong in yes r.csv; do
    COLL_REPORT=$wrong refuses "must be 0, 1, or a file that ends in .txt, .json or .svg"
done
COLL_REPORT=none/r.json refuses "No such file or directory; name a file"

# --- Under coll-run ---
if [ -x "$build/coll-run" ]; then
    coll_run() {
        $limited "$build/coll-run" -n "$@" >out 2>err </dev/null
    }
    coll_run 3 --report=w.json --allreduce ring -- "$late" 1 25 30 || fail "coll-run"
    check w.json 3 30 ring 1
    same reduce "$(row w.json reduce algorithm)" native
    coll_run 3 --report -- "$late" -1 0 30 || fail "coll-run alone"
    grep -q '^libcoll left all calls to the MPI library: coll-run got no --wrap' err || fail "no reason"
    coll_run 4 --report --dcp 1 -- "$late" -1 0 30 || fail "coll-run with a DCP"
    grep -q '^libcoll .* on 3 ranks, 1 host$' err || fail "a DCP counts"
    COLL_REPORT=yes aborting coll_run 2 -- "$late" -1 0 3 && fail "coll-run takes COLL_REPORT=yes"
fi

# --- With the component ---
if [ -f "$build/.libs/mca_coll_libcoll.so" ]; then
    mkdir components
    ln -s "$build/.libs/mca_coll_libcoll.so" components
    component() {
        count=$1
        shift
        run "$count" --mca opal_mca_base_component_path "SYSTEM_DEFAULT:$work/components" "$@"
    }
    component 4 --mca coll_libcoll_report c.json --mca coll_libcoll_one_host 1 \
        --mca coll_libcoll_allreduce ring "$late" 2 25 30 || fail "component"
    check c.json 4 30 ring 2
    component 3 --mca coll_libcoll_report 1 "$late" -1 0 30 || fail "component aside"
    grep -q '^allreduce  *16K  *30 .* native ' err || fail "no row of what was passed on"
    grep -q '^libcoll left all calls to the MPI library: all ranks on one host$' err || fail "no reason"
    COLL_DISABLE=1 component 3 -x COLL_DISABLE --mca coll_libcoll_report 1 "$late" -1 0 30 || fail "disabled"
    grep -q '^libcoll left all calls to the MPI library: COLL_DISABLE is set$' err || fail "no COLL_DISABLE"
    coll_run 3 --report --mca opal_mca_base_component_path "SYSTEM_DEFAULT:$work/components" -- "$late" -1 0 30 ||
        fail "coll-run beside the component"
    same reports "$(grep -c '^libcoll .* on 3 ranks, 1 host$' err)" 1
    grep -q '^libcoll left all calls to the MPI library: all ranks on one host$' err || fail "not the component's"
    aborting component 2 --mca coll_libcoll_report yes "$late" -1 0 3 && fail "the component takes yes"
fi
echo "all as it should be"
