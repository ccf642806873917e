#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests scripts/chooser-score without a lab: the random labs that it draws, the profile with a lab's true
# rates, and its results from made-up rows.
set -u
. "$(dirname "$0")/../support/expect.sh"
scripts=$(cd "$(dirname "$0")/../.." && pwd)/scripts
score=$scripts/chooser-score
build=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# --- the labs ---

"$score" --random 200 --seed 7 --draw >labs || same 'status of --draw' 0 $?
same 'labs' 200 "$(wc -l <labs)"
same 'a lab, drawn with fewer others' "$(head -n 3 labs)" "$("$score" --random 3 --seed 7 --draw)"
same 'some labs' "$(sed -n 5,6p labs)" "$("$score" --random 5-6 --seed 7 --draw)"
[[ $("$score" --random 3 --seed 8 --draw) != "$(head -n 3 labs)" ]] || same 'another seed' other same
same 'labs out of bounds' '' "$(awk '
    {
        racks = split($2, size, ",")
        hosts = 0
        for (i = 1; i <= racks; i++) {
            hosts += size[i]
            least = i == 1 || size[i] + 0 < least ? size[i] + 0 : least
        }
        over = $4 / $3
        good = racks <= 6 && least >= 1 && hosts >= 4 && hosts <= 25 &&
            $3 + 0 >= 10 && $3 + 0 <= 400 && over > 0.45 && over < 4.2 && $5 + 0 >= 40 &&
            $5 + 0 <= 400 && $6 + 0 <= 2000 && $7 >= 1 && $7 <= 4 && $8 ~ /^(rack|scrambled)$/
        if (!good)
            print
    }' labs)"
for column in 2 6 7 8; do
    (($(awk -v column=$column '{ print $column }' labs | sort -u | wc -l) > 1)) ||
        same "values of column $column" several one
done
same 'labs without a delay, of 200' yes "$(awk '$6 == "0" { n++ } END { print (n > 70 && n < 130 ? "yes" : n) }' labs)"

same 'a lab that is slowed down' '412.12 3,3,2,2 30.00mbit 72.71mbit 128k 3210us 1 scrambled' \
    "$("$score" --random 12-12 --seed 412 --draw --together 300mbit)"
same 'a lab that is slow enough' "$("$score" --random 10-10 --seed 411 --draw)" \
    "$("$score" --random 10-10 --seed 411 --draw --together 300mbit)"

awk -v racks=4,3 -v link=80mbit -v uplink=40mbit -v buffer=100k -v delay=500us \
    -f "$scripts/chooser-score.d/exact.awk" | sed "s/^hosts .*/hosts $(uname -n)/" >profile
if [[ -x $build/coll-info ]]; then
    text=$(COLL_PROFILE=$PWD/profile "$build/coll-info" 2>&1) || same 'status of coll-info' 0 $?
    same 'costs of a lab' 'rack 1030.00 10.00 102400 measured
site 1030.00 5.00 102400 measured' "$(awk '$1 ~ /^(rack|site)$/ { print $1, $2, $4, $6, $7 }' <<<"$text")"
fi

# --- the score of random labs ---

# row TOLD OP ALGORITHM MEDIAN CPU REST: prints a row of a cell of 4096 bytes on a machine with two
# processors.
row() {
    printf '{"lab": "1.1", "told": "%s", "processors": 2, "op": "%s", "algorithm": "%s", "ranks": 8, ' \
        "$1" "$2" "$3"
    printf '"bytes": 4096, "reps": %s, "median_us": %s, "cpu_ms": %s%s}\n' "${reps-19}" "$4" "$5" "${6-}"
}

# predicted RUNS RIVAL US: prints the members that --predict adds.
predicted() {
    printf ', "runs": "%s", "rival": %s, "predicted_us": %s, "model_us": 1' "$1" "$2" "$3"
}

# auto CALLS: prints the times of auto's calls.
auto() {
    printf ', "calls_us": "%s"' "$1"
}

{
    # A hit: from the fourth call on it is fast enough.
    row racks bcast auto 1100 0.1 "$(auto '4000 3000 2000 1100 1100 1100')$(predicted chain:segment=0 0 800)"
    row racks bcast chain 1000 0.1 "$(predicted chain:segment=0 0 800)"
    row racks bcast linear 700 0.1 "$(predicted linear 1 900)" # a rival
    row racks bcast hlot 600 0.1 "$(predicted native 0 900)"   # native ran
    reps=1 row racks bcast binomial 4000 0.1 "$(predicted binomial 0 800)"
    row racks bcast wire 100 0.1
    # Without predictions, and twice as slow: a miss.
    row racks reduce_scatter auto 9000 0.1 "$(auto '6000 6000 6000 6000 6000 6000 6000')"
    row racks reduce_scatter native 3000 0.1
    row racks reduce_scatter ring 4000 0.1
    # Noise: auto runs the algorithm that was the fastest.
    row racks scatter auto 1200 0.1 "$(auto '1200 1200 1200 1200')$(predicted straight:window=16 0 800)"
    row racks scatter straight 1000 0.1 "$(predicted straight:window=16 0 800)"
    # A cell in which processors limit the speed.
    row racks gather auto 1000 0.1 "$(auto '3000 3000 3000 3000')"
    row racks gather native 1000 1.5
    # A job that is not told the racks is slower than one that is.
    row nothing bcast auto 1100 0.1 "$(auto '2000 2000 2000 2000 2000')"
    row nothing bcast native 2000 0.1
} >rows
text=$("$score" --score rows) || same 'status of --score' 0 $?
same 'misses' "miss, told racks, 1.1 reduce_scatter 4096: calls 4 to 7 take 6.00 ms, 2.00 times as long as native
miss, told racks, 1.1 scatter 4096: calls 4 to 4 take 1.20 ms, 1.20 times as long as straight; auto runs straight:window=16
miss, told racks, 1.1 gather 4096: calls 4 to 4 take 3.00 ms, 3.00 times as long as native
miss, told nothing, 1.1 bcast 4096: calls 4 to 5 take 2.00 ms, 2.00 times as long as chain with racks told" \
    "$(grep '^miss' <<<"$text")"
same 'with racks told' 'racks 3 33.3 % 1.43 1.38 2.00 2.07 1.75 1
racks 1 0.0 % 3.00 3.00 3.00 3.00 3.00 0' "$(awk '$1 == "racks" && $4 == "%" { $1 = $1; print }' <<<"$text")"
same 'nothing told' 'nothing 1 0.0 % 2.00 2.00 2.00 2.00 2.00 0' \
    "$(awk '$1 == "nothing" && $4 == "%" { $1 = $1; print }' <<<"$text")"
same 'predictions' 'racks bcast chain 1 0.80 0.80 0.80 2.00
racks bcast binomial 1 0.20 0.20 0.20 0.50' "$(awk '$2 == "bcast" && NF == 8 { $1 = $1; print }' <<<"$text")"
matches 'what ran once' '*fastest: bcast binomial, in 1 cells*' "$text"
matches 'cells with few calls' '*: 5 of 5 cells*' "$text"

# --- the score of shapes ---

sed 's/"lab": "1.1", "told": "racks"/"shape": "2x4", "pass": 1/' rows | grep '"shape"' >shapes
text=$("$score" --score shapes) || same 'status of --score with shapes' 0 $?
same 'misses of shapes' 'miss 2x4 reduce_scatter p=8 4096: auto is 3.00 times as slow as native' \
    "$(grep '^miss' <<<"$text")"
matches 'hits of shapes' "*auto's pick is within 5 % of the fastest in 3 of 4 cells*" "$text"

# --- what is refused ---

refused() {
    local text status=0 wanted=$1
    shift
    text=$("$score" "$@" 2>&1) || status=$?
    same "status of: $*" 1 "$status"
    matches "words of: $*" "chooser-score: $wanted" "$text"
}
refused "--random: 'x' is not a number*" --random x
refused "--random: '0' is not a number*" --random 0
refused "--random and --labs exclude each other" --random 1 --labs labs
refused "--labs: 'none' can't be read" --labs none
{ head -n 2 labs && echo '4x4 4,4 20mbit 40mbit 100k 1ms 0 rack'; } >wrong
refused "--labs: line 3:4x4 4,4 * of 'wrong' is not like *" --labs wrong
refused "--random: '' is not a number*" --random 3-
refused "--random: '4-3' ends before it begins" --random 4-3
refused "--seed: '1e3' is not a number*" --random 1 --seed 1e3
refused "--together: '3g' is not a rate*" --random 1 --together 3g
refused "--told: there is no 'all'*" --random 1 --told all
refused "--told: cache needs something before it" --random 1 --told 'cache racks'
refused "--draw needs --random N" --draw
refused "--score: 'nowhere' can't be read" --score nowhere
refused "--score needs files*" --score

((failures == 0))
