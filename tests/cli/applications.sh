#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the parts of scripts/applications --lab that need no lab: the arguments that it refuses, and its
# tables from made-up results.
set -u
. "$(dirname "$0")/../support/expect.sh"
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
build=$PWD
[[ -e $build/.libs/libcoll_pmpi.so ]] || {
    echo "skipped: libcoll_pmpi is not built"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# refused TEXT ARGUMENTS: expects exit status 1, one line on stderr with TEXT, and no other output.
refused() {
    local text=$1 status=0
    shift
    "$scripts/applications" --lab --build "$build" "$@" >out 2>err || status=$?
    same "status of: $*" 1 "$status"
    same "words of: $*" '' "$(cat out)"
    same "lines about: $*" 1 "$(wc -l <err)"
    grep -qF -- "$text" err || same "error about: $*" "$text" "$(cat err)"
}
refused "--by must be wrapper, component or dcp, not 'dcps'" --by dcps
refused "--told must be nothing, racks or profile, not 'all'" --told all
refused "--network must be racks or delay, not 'slow'" --network slow
refused '--by dcp has a lab of its own: leave out --network' --by dcp --network delay
refused '--profile goes with --told profile' --told racks --profile here
refused "--dcp goes with --by dcp" --dcp 1:4
refused "--dcp goes with --by dcp" --by component --dcp 1:4
for list in 4 1:3 1:32 '1:4,' 1:4,8 '1:4 1:8' 1:x; do
    refused "not '$list'" --by dcp --dcp "$list"
done
refused "--dcp needs a value" --by dcp --dcp
refused "--runs must be a number" --by dcp --runs 0
refused "there is no program 'nosuch'; known are: abinit" --by dcp nosuch
refused "there is no option '--dpc'" --by dcp --dpc 1:4
refused "there is no directory $work/nowhere" --by dcp --json "$work/nowhere/j"
refused "there is no $work/.libs/libcoll_pmpi.so" --by dcp --build "$work"

# read_lines FILE: reads made-up results with the awk program FILE.
read_lines() {
    awk -f "$scripts/bench.d/field.awk" -f "$scripts/applications.d/json.awk" "$@"
}

# Prints a line of results. The prediction is right if both ratios are above 1.03, or neither is.
dcp_line() {
    printf '{"program": "%s", "by": "dcp", "dcp": "%s", "ranks": 32, "application": %s, "clock": "%s", ' "$1" "$2" "$3" "$4"
    printf '"collectives": %s, "served_s": 1.5, "started_s": 0.5, "served": 345.0, "explained": %s, ' "$5" "$6"
    printf '"none_s": [%s], "fewer_s": [4, 3, 9], "with_s": [%s], "equal": %s}\n' "$7" "$8" "$9"
}
{
    dcp_line ocean 1:8 28 program 0.66 1.2400 '8.000, 12.000, 10.000' '5.5, 4.5, 5.000' true
    dcp_line ocean 1:4 25 program 0.66 1.0200 '8.000, 12.000, 10.000' '9.9, 9.7, 9.8' true
    dcp_line atoms 1:4 25 run null 1.1000 '10.000' '10.000' false
    dcp_line waves 1:4 25 program 0.5 0.9000 '10.000, 12.000' '5, 6' true
} >lines
read_lines -v title=1 -f "$scripts/applications.d/dcp-table.awk" lines | sed 's/  */ /g' >table
cat >expected <<'END_OF_TABLE'
program dcp ranks collectives none_s fewer_s with_s ratio explained right results served
ocean 1:8 28 66 % 10.00 4.00 5.00 2.00 1.24 yes equal 345
ocean 1:4 25 66 % 10.00 4.00 9.80 1.02 1.02 yes equal 345
atoms (run) 1:4 25 ? 10.00 4.00 10.00 1.00 1.10 NO DIFFERENT 345
waves 1:4 25 50 % 11.00 4.00 5.50 2.00 0.90 NO equal 345
END_OF_TABLE
same "the table of dcp" "$(cat expected)" "$(cat table)"
read_lines -f "$scripts/applications.d/dcp-picture.awk" lines >picture
same "the picture's figures" '"ocean 1:8" 2 1.24 "ocean 1:4" 1.02041 1.02 "atoms 1:4" 1 1.1 "waves 1:4" 2 0.9' \
    "$(sed -n '/^"/p' picture | paste -sd ' ')"

echo '{"program": "ocean", "by": "wrapper", "ranks": 16, "clock": "program", "collectives": 0.59, "without_s": [3, 1, 2], "with_s": [1, 0.5, 9], "without_init_s": [0.2, 0.1, 0.3], "with_init_s": [0.5, 0.4, 0.6], "most_time": "gather", "bytes": 4, "calls": 24, "algorithm": "native", "of_calls": 0.5, "equal": true}' >lines
same "the table" "ocean 16 59 % 2.00 1.00 2.00 0.20 0.50 equal 24 x gather of 4 bytes by native, 50 %" \
    "$(read_lines -v title=0 -f "$scripts/applications.d/table.awk" lines | sed 's/  */ /g')"

# The output of the installation must not be on stdout.
mkdir bin
printf '#!/bin/sh\necho "apt-get $*"\n' >bin/apt-get
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
chmod +x bin/*
PATH=$work/bin:$PATH "$scripts/packages" no-such-package >out 2>err
same "the status of packages" 0 $?
same "what packages prints" '' "$(cat out)"
same "what packages says" 'packages: installing no-such-package' "$(cat err)"

((failures == 0))
