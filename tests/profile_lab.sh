#!/bin/bash
# coll-profile on a lab of four hosts: its trials correct what the library predicts there. Needs root
# and the kernel's features; skipped (77) where netlab says that the machine lacks them. How large
# corrections are is not asked.
set -u
here=$(cd "$(dirname "$0")" && pwd)
netlab=$(dirname "$here")/scripts/netlab
build=$PWD
lab=profile-$$
work=$(mktemp -d)
unset COLL_PROFILE COLL_TOPOLOGY
export XDG_CONFIG_HOME=$work

cleanup() {
    "$netlab" down --name "$lab" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

fail() {
    echo "FAILED: $*"
    tail -n 50 "$work"/*
    exit 1
}

text=$("$netlab" up --name "$lab" --racks 1 --hosts 4 2>&1)
status=$?
if ((status == 3)); then
    echo "skipped: $text"
    exit 77
fi
((status == 0)) || { echo "$text" && exit 1; }
if ! "${MPIRUN:-mpirun}" --version 2>/dev/null | grep -q 'Open MPI'; then
    echo 'skipped: no mpirun of Open MPI'
    exit 77
fi

on_lab() {
    "$netlab" run --name "$lab" -- "$@" >"$work/out" 2>"$work/err" </dev/null
}

on_lab "$build/coll-profile" --output "$work/profile" --seconds 0.5 --noise 1e9 --no-flood --trials 8 \
    --json "$work/json" || fail 'coll-profile'
line=$(grep '^correction rack bcast .* 4 at ' "$work/profile" | head -n 1)
[[ -n $line ]] || fail 'a profile with corrections of broadcasts by 4 ranks'
read -r _ _ _ algorithm _ _ bytes ratio _ <<<"$line"
grep -q "\"op\": \"bcast\", \"algorithm\": \"$algorithm\", \"ranks\": 4, \"bytes\": $bytes, \"ratio\": " \
    "$work/json" || fail "the ratio of $algorithm in the JSON"
grep -q "^rack *bcast *$algorithm *4 " "$work/out" || fail "the ratios of $algorithm in the table"

# What is predicted is the model's word times the ratio, both of which are rounded.
COLL_PROFILE=$work/profile on_lab "$build/coll-info" explain bcast "$bytes" --json "$work/explained" ||
    fail 'coll-info'
grep "\"algorithm\": \"$algorithm\"" "$work/explained" | sed 's/[",]//g' | awk -v ratio="$ratio" '
    { for (i = 1; i < NF; i++) value[$i] = $(i + 1) }
    END {
        off = value["predicted_us:"] / value["model_us:"] / ratio
        exit !(off > 0.99 && off < 1.01)
    }' || fail "$algorithm is predicted to take $ratio of what the model says"

on_lab "$build/coll-profile" --output "$work/plain" --seconds 0.5 --noise 1e9 --no-flood --trials 0 ||
    fail 'coll-profile --trials 0'
! grep -q '^correction' "$work/plain" || fail 'no corrections without trials'
echo 'all as it should be'
