#!/bin/bash
# coll-profile on a lab of four hosts: its trials are what the library predicts there. Needs root and
# the kernel's features; skipped (77) where netlab says that the machine lacks them. How long anything
# takes is not asked.
set -u
. "$(dirname "$0")/lab.sh"
build=$PWD
unset COLL_PROFILE COLL_TOPOLOGY
export XDG_CONFIG_HOME=$work

fail() {
    echo "FAILED: $*"
    tail -n 50 "$work"/*
    exit 1
}

set_up up --racks 1 --hosts 4

on_lab() {
    timeout -k 10 300 "$netlab" run --name "$lab" -- "$@" >"$work/out" 2>"$work/err" </dev/null
}

# One operation has all the time for trials: beside other tests each call may take long.
on_lab "$build/coll-profile" --output "$work/profile" --seconds 2 --noise 1e9 --no-flood --trials 40 \
    --operations bcast --json "$work/json" || fail 'coll-profile'
line=$(grep '^trial rack bcast .* 4 at ' "$work/profile" | head -n 1)
[[ -n $line ]] || fail 'a profile with trials of broadcasts by 4 ranks'
read -r _ _ _ algorithm _ _ bytes seconds _ <<<"$line"
grep -q "\"op\": \"bcast\", \"algorithm\": \"$algorithm\", \"ranks\": 4, \"bytes\": $bytes, \"median_us\": " \
    "$work/json" || fail "the time of $algorithm in the JSON"
grep -q "^rack *bcast *$algorithm *4 " "$work/out" || fail "the times of $algorithm in the table"

# What was tried is predicted to take what it took, but for its rounding in the profile.
COLL_PROFILE=$work/profile on_lab "$build/coll-info" explain bcast "$bytes" --json "$work/explained" ||
    fail 'coll-info'
grep "\"algorithm\": \"$algorithm\"" "$work/explained" | sed 's/[",]//g' | awk -v seconds="$seconds" '
    { for (i = 1; i < NF; i++) value[$i] = $(i + 1) }
    END {
        off = value["predicted_us:"] / (seconds * 1e6)
        exit !(off > 0.999 && off < 1.001 && value["model_us:"] > 0)
    }' || fail "$algorithm is predicted to take $seconds s"

on_lab "$build/coll-profile" --output "$work/plain" --seconds 0.5 --noise 1e9 --no-flood --trials 0 ||
    fail 'coll-profile --trials 0'
! grep -q '^trial' "$work/plain" || fail 'no trials with --trials 0'
echo 'all as it should be'
