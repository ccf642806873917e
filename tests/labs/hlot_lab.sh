#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests hlot on a lab of four sites. The tree is that of the latencies, and follows them when they change
# during a run, without a wrong broadcast. Also tests allreduces over sites, and latencies from valid and
# invalid files. Needs root and features of the kernel; skipped (77) if netlab reports that the machine
# lacks them. Times are only printed.
set -u
. "$(dirname "$0")/../support/lab.sh"
follow=$PWD/tests/labs/hlot_follow
hlot=$PWD/coll-hlot
bench=$PWD/coll-bench
unset COLL_LATENCIES COLL_BCAST COLL_ALLREDUCE COLL_TOPOLOGY

fail() {
    echo "FAILED: $*"
    tail -n 20 "$work"/log*
    exit 1
}

# From s0 the best path to s2 is over s1 (10 + 10), and s3 is a child of s0. Later the first link takes 90.
cat >"$work/before" <<'END'
s0 s1 s2 s3
 0 10 40 30
10  0 10 60
40 10  0 60
30 60 60  0
END
sed -e 's/^ 0 10/ 0 90/' -e 's/^10  0/90  0/' "$work/before" >"$work/after"

set_up wan --matrix "$work/before" --hosts-per-site 1

# follows RANKS: changes the latencies during a run with RANKS ranks. Broadcasts end at most a minute later.
follows() {
    local tries
    rm -f "$work/changed"
    "$netlab" wan --name "$lab" --update "$work/before" || fail 'the first latencies'
    "$netlab" run --name "$lab" -n "$1" -- "$follow" "$work/changed" 1500 >"$work/log" 2>&1 &
    run=$!
    for ((tries = 0; tries < 600; tries++)); do
        ! grep -q -s '^broadcast .* parents -1 0 1 0$' "$work/log" || break
        sleep 0.1
    done
    sleep 1
    grep -q '^broadcast .* parents -1 0 1 0$' "$work/log" || fail "no tree over s1 with $1 ranks"
    "$netlab" wan --name "$lab" --update "$work/after" || fail 'the update'
    touch "$work/changed"
    wait "$run" || fail "a broadcast with $1 ranks"
    run=
    tail -n 1 "$work/log" | grep -q ' parents -1 2 0 0$' || fail "the tree stays with $1 ranks"
    grep '^broadcast' "$work/log" | tail -n 1
}
follows 7

# measured WHAT...: runs coll-hlot, which measures the lab's latencies. They are those of the file "after"
# now.
measured() {
    timeout -k 10 120 "$netlab" run --name "$lab" -n 4 -- "$hlot" "$@" --seconds 1 >"$work/log" 2>&1 ||
        fail "coll-hlot $1"
}
measured probe --output "$work/probed"
"$hlot" show "$work/probed" >"$work/log" 2>&1 || fail 'what probe writes'
grep -q '^hosts site3 n3$' "$work/probed" || fail 'probe: the hosts'
# A latency is half a round trip. The kernel's timers may end a delay some microseconds early.
awk '/^ / && NR == 4 { exit !($2 > 89 && $3 > 39 && $4 > 29) }' "$work/probed" || fail 'probe'
measured watch
grep -q '^hlot+ tree\|^# hlot+ tree from site0' "$work/log" || fail 'watch'

# From here on the lab's latencies are short, so that mpirun starts faster.
printf 's0 s1 s2 s3\n0 1 1 1\n1 0 1 1\n1 1 0 1\n1 1 1 0\n' >"$work/near"
"$netlab" wan --name "$lab" --update "$work/near" || fail 'short latencies'

# With little data, each site sends its part of a sum to all others.
COLL_TRACE=1 timeout -k 10 120 "$netlab" run --name "$lab" -n 8 -- "$bench" allreduce --sizes 8 --algorithms auto --reps 2 --verify \
    >"$work/log" 2>&1 || fail 'an allreduce'
grep -q '^coll: allreduce .*choice=all_sites' "$work/log" || fail 'an allreduce goes another way'
! grep -q 'WRONG DATA' "$work/log" || fail 'an allreduce is wrong'

# by_hand FILE: runs broadcasts with the latencies of FILE, which are not the lab's.
by_hand() {
    COLL_LATENCIES=$1 timeout -k 10 120 "$netlab" run --name "$lab" -n 4 -- "$follow" "$work/nothing" 5 \
        >"$work/log" 2>&1
}
printf 's0 s1 s2 s3\n0 9 9 1\n9 0 9 9\n9 9 0 9\n9 1 1 0\n' >"$work/hand"
by_hand "$work/hand" || fail 'latencies by hand'
grep -q ' parents -1 3 3 0$' "$work/log" || fail 'latencies by hand: the tree'
# The same sites in another order, identified by their hosts. Host 3 is n0.
printf 'a b c d\n0 9 9 9\n9 0 9 1\n9 1 0 1\n9 1 9 0\nhosts a n1\nhosts b n3\nhosts c n2\nhosts d n0\n' \
    >"$work/hosts"
by_hand "$work/hosts" || fail 'latencies by hand and host'
grep -q ' parents -1 0 0 0$' "$work/log" || fail 'latencies by hand and host: the tree'

# refuses TEXT FILE: expects that FILE is refused with an error that has TEXT.
refuses() {
    ! by_hand "$2" || fail "accepted: $1"
    grep -q -F "$1" "$work/log" || fail "not \"$1\""
}
printf '0 1\n1 0\n' >"$work/bad"
refuses '2 sites, but the ranks are at 4' "$work/bad"
sed 's/hosts d n0/hosts d n9/' "$work/hosts" >"$work/bad"
refuses 'host n0 is in none of its lines of hosts' "$work/bad"
sed 's/hosts d n0/hosts d n9\nhosts a n0/; s/hosts a n1/hosts x/' "$work/hosts" >"$work/bad"
refuses 'line 6' "$work/bad"
printf '0 1 1 -\n1 0 1 -\n1 1 0 -\n1 1 1 0\n' >"$work/bad"
refuses 'there is no path from site0 to site3' "$work/bad"
refuses 'cannot read the matrix file' "$work/nosuch"
exit 0
