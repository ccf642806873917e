#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests coll-popcg as users run it: the same surface for any number of ranks, its table as JSON, a picture,
# and one clear line for every error, with no files left under the final names.
set -u
. "$(dirname "$0")/../support/programs.sh"
program=$build/coll-popcg

# run RANKS ARGUMENTS...: runs the program, under mpirun if there are several ranks, with its output in out
# and err.
run() {
    ranks=$1
    shift
    if [ "$ranks" = 1 ]; then
        $limited "$program" "$@" >out 2>err </dev/null
    else
        $limited "$mpirun" -n "$ranks" "$program" "$@" >out 2>err </dev/null
    fi
}

# refuses RANKS TEXT ARGUMENTS...: expects an error with one line that has TEXT, and no picture.
refuses() {
    n=$1
    text=$2
    shift 2
    run "$n" "$@"
    status=$?
    test $status -ne 0 && test $status -ne 124 || fail "status $status with $n ranks: $*"
    test "$(grep -c '^coll-popcg: ' err)" = 1 || fail "not one line with $n ranks: $*"
    grep -F -q -e "$text" err || fail "no \"$text\" with $n ranks: $*"
    test ! -e picture.png || fail "a picture is left with $n ranks: $*"
}

# These work without mpirun and MPI.
"$program" --help | grep -q -- '--reductions' || fail "--help"
"$program" --version | grep -q '^coll-popcg .*[0-9]\.[0-9]' || fail "--version"
test "$("$program" --coordinates --grid 6x5 | wc -l)" = 30 || fail "--coordinates"

# All solvers with all kinds of reductions have the same number of iterations and the same residual to the
# last digit.
for n in 1 4 5; do
    run $n --grid 80x96 --solver all --reductions all --json table.json --picture $n.png ||
        fail "$n ranks"
    test "$(wc -l <table.json)" = 9 || fail "rows with $n ranks"
    sed 's/"reductions": "[a-z]*", //; s/"us_per_10.*//' table.json | sort -u >same
    test "$(wc -l <same)" = 3 || fail "reductions change the result with $n ranks: $(cat same)"
    grep '^surface' out | sed 's/\(\.[0-9]\{6\}\)[0-9]*/\1/g' >surface.$n
    cmp surface.1 surface.$n || fail "another surface with $n ranks"
    cmp 1.png $n.png || fail "another picture with $n ranks"
done
head -c 8 1.png | od -An -tx1 | grep -q '89 50 4e 47' || fail "no PNG"
# The map has a title, axes and a scale around it.
test "$(od -An -tu1 -j16 -N8 1.png | awk '{ print ($3 * 256 + $4 > 300) + ($7 * 256 + $8 > 96 + 100) }')" = 2 ||
    fail "a picture of the cells alone"

# Masks from files, with any arrangement of blanks.
printf 'P1 # comment\n 6 # columns\n 4\n1 1 1 1 1 1\n100001 000000\n111\n1\n1 1' >basin.pbm
run 3 --mask basin.pbm || fail "a mask"
grep -q '^grid of 6 x 4 cells, 10 of ocean' out || fail "cells of a mask"
run 2 --mask basin.pbm --grid 12x16 || fail "a mask on another grid"
grep -q '^grid of 12 x 16 cells, 80 of ocean' out || fail "cells of a mask on another grid"

# All errors.
printf 'P1 2 2 1111' >land.pbm
printf 'P1 2 2 11' >cut.pbm
printf 'P1 2 2 1120' >damaged.pbm
printf 'P4 2 2 x' >binary.pbm
refuses 3 "no convergence within 20 iterations: the residual is 0." --grid 80x96 --iterations 20 \
    --picture picture.png
refuses 3 "land.pbm: no cell of the grid of 2 x 2 is ocean" --mask land.pbm
refuses 1 "missing.pbm: can't be opened: No such file" --mask missing.pbm
mkfifo pipe
refuses 3 "pipe: can't be opened: not a regular file" --mask pipe
refuses 1 "/: can't be opened: Is a directory" --mask /
refuses 3 "cut.pbm: ends or is damaged after 2 of 2 x 2 cells" --mask cut.pbm
printf 'P1 2 2 11110' >longer.pbm
refuses 1 "longer.pbm: holds more than its 2 x 2 cells" --mask longer.pbm
refuses 1 "--json ./basin.pbm: is also read, as --mask basin.pbm" --mask basin.pbm --json ./basin.pbm
refuses 3 "--json j.png and --picture ./j.png name the same file" --json j.png --picture ./j.png
refuses 1 "--grid given twice" --grid 5x5 --grid 6x6
cp basin.pbm kept
refuses 3 "land.pbm: no cell of the grid" --mask land.pbm --json kept --picture picture.png
cmp basin.pbm kept || fail "an old file is touched by a failure"
refuses 1 "damaged.pbm: ends or is damaged after 2 of" --mask damaged.pbm
refuses 1 "binary.pbm: is not a plain PBM bitmap" --mask binary.pbm
refuses 3 "nowhere/p.png: " --grid 20x24 --picture nowhere/p.png
refuses 3 "nowhere/j: can't be written" --grid 20x24 --json nowhere/j --picture picture.png
refuses 3 "a grid of 1 x 2 cells is too small for 3 ranks" --grid 1x2
refuses 1 "--grid 0x5: COLUMNSxROWS" --grid 0x5
refuses 1 "--grid 5: COLUMNSxROWS" --grid 5
refuses 1 "--grid 5x5x5: COLUMNSxROWS" --grid 5x5x5
refuses 1 "--solver jacobi: allowed: all, pcg, chrongear, pipecg" --solver jacobi
refuses 1 "--reductions none: allowed: all, blocking, nbc, dcp" --reductions none
refuses 3 "--step inf: makes the problem singular" --step inf
refuses 1 "--step 0: a number" --step 0
refuses 1 "--tolerance -1: a number" --tolerance -1
refuses 1 "--tolerance nan: a number" --tolerance nan
refuses 1 "--iterations 0: a number" --iterations 0
refuses 1 "option --grid needs a value" --grid
refuses 1 "unknown option --depth" --depth 4
refuses 1 "unexpected argument ocean.pbm" ocean.pbm
if [ "$launcher" != mpich ]; then # whose mpiexec would write the output
    $limited "$program" --grid 20x24 --json lost >/dev/full 2>err </dev/null && fail "a full disk"
    grep -q "^coll-popcg: the output can't be written: " err && [ ! -e lost ] || fail "a full disk is not named"
fi
echo "all as it should be"
