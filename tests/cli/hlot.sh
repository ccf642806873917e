#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests coll-hlot as users run it: the paper's figures, pictures, and one clear line for every error.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
. "$(dirname "$0")/../support/programs.sh"
unset COLL_PROFILE COLL_LATENCIES

hlot() {
    $limited "$build/coll-hlot" "$@" >out 2>err </dev/null
}

# refuses TEXT ARGUMENTS...: expects an error with one line that has TEXT, and no file.
refuses() {
    text=$1
    shift
    hlot "$@" && fail "accepted: $*"
    test "$(grep -c '^coll-hlot: ' err)" = 1 || fail "not one line: $*"
    grep -F -q -e "$text" err || fail "no \"$text\": $*"
    test -s out && fail "output: $*"
    for file in picture.svg picture.png r.json; do
        test -e "$file" && fail "$file is left: $*"
    done
    return 0
}

"$build/coll-hlot" --help | grep -q -- '--json' || fail 'help'
"$build/coll-hlot" --version | grep -q '^coll-hlot .*[0-9]\.[0-9]' || fail 'version'

# Figure 2 of the paper, in units of 0.1 ms.
hlot compare "$tests/hlot/figure1.txt" --json r.json || fail 'compare'
for line in 'hlot 60.000' 'hlot+ 60.000' 'flat 80.000' 'binomial 142.000' 'mst 115.000' 'spt 60.000'; do
    grep -q "^${line% *} *${line#* } " out || fail "compare: $line"
done
grep -q '"tree": "binomial", "total_ms": 142,' r.json || fail 'compare --json'
rm r.json

hlot show "$tests/hlot/figure1.txt" --tree mst --root A || fail 'show'
grep -q '^      F  *65.000   30.000 from G$' out || fail 'show: the tree'
grep -q '^G  *92.000 ' out || fail 'show: the matrix'
hlot show "$tests/hlot/figure1.txt" --root 6 --bytes 256K || fail 'show --bytes'
grep -q 'from G: .* ms for 262144 bytes in [0-9]* segments' out || fail 'show --bytes: heading'

printf 'a b c\n0 1 -\n1 0 -\n1 1 0\n' >lost
refuses 'there is no path from a to c' compare lost
hlot compare lost --root c || fail 'from the lost site'
printf '1 2\n2 1\n' >within
hlot compare within || fail 'latencies within sites'
grep -q '^coll-hlot: latencies from a site to itself are ignored$' err || fail 'latencies within sites: said'
hlot show "$tests/hlot/figure1.txt" --root G || fail 'show: by spaces'
mv out spaces
sed 's/#.*//; s/^ *//; s/ *$//; s/  */,/g' "$tests/hlot/figure1.txt" >figure1.csv
hlot show figure1.csv --root G || fail 'show: by commas'
diff spaces out || fail 'show: another matrix by commas'
printf '0 1\n1\n' >bad
refuses 'matrix file bad, line 2: 1 numbers for 2 sites' show bad
refuses 'cannot read the matrix file nosuch' show nosuch
refuses 'cannot read the matrix file /: Is a directory' show /
refuses 'cannot read the matrix file /dev/zero: not a regular file' show /dev/zero
mkfifo pipe
refuses 'cannot read the matrix file pipe: not a regular file' show pipe
$limited "$build/coll-hlot" show - <lost >out 2>err && fail 'shown although lost'
grep -q 'there is no path from a to c' err || fail 'standard input'
$limited "$build/coll-hlot" show - </dev/zero >out 2>err
test $? = 1 || fail 'standard input without an end'
grep -q '^coll-hlot: cannot read the matrix file -: too large' err || fail 'standard input without an end: why'
refuses 'no command; known' --json r.json
refuses 'unknown command shwo' shwo
refuses 'draw needs --output' draw lost
refuses 'probe measures; it takes no matrix' probe lost
refuses 'study takes no MATRIX' study lost
refuses '--sites 65: a number from 2 to 64' study --sites 65
refuses '--sites, --networks and --seed belong to study' compare lost --seed 2
hlot study --sites 5 --networks 9 --seed 3 --json s.json || fail study
grep -q '^# 9 random networks of 5 sites, compared with the best of all trees$' out || fail 'study: heading'
grep -q '^spt .* 1.000 .* 1.000 .* 9$' out || fail 'study: the best kind by latencies alone'
grep -q '"sites": 5, "tree": "hlot+", "median": 1, "worst": 1, "best_in": 9' s.json || fail 'study: JSON'
refuses '--seconds x: a number' show lost --seconds x
refuses 'the ranks are at 1 site, and 2 to 64 are needed; set COLL_TOPOLOGY' probe
refuses 'the name must end in .svg or .png' draw lost --root c --output picture.gif
refuses '--root z: no such site; there are 3, the first is a' show lost --root z
refuses '--tree oak: allowed: hlot, hlot+' show lost --tree oak
refuses '--bytes x: a number of at least 1 is needed, as 4096, 64K' show lost --bytes x
refuses '--output belongs to probe and draw' show lost --output picture.svg
refuses '--seconds belongs to measuring' show lost --seconds 1
refuses 'option --root needs a value' show lost --root
refuses 'unknown option --rot' show lost --rot
refuses 'unexpected argument x' show lost x
refuses "nosuch/r.json: can't be written" show lost --root c --json nosuch/r.json

# After a failure an old file, or a device, is unchanged; inputs are not overwritten.
echo old >kept
refuses 'cannot read the matrix file nosuch' show nosuch --json kept
test "$(cat kept)" = old || fail 'an old file is touched by a failure'
if mknod device c 1 3 2>/dev/null; then
    refuses 'cannot read the matrix file nosuch' show nosuch --json device
    test -c device || fail 'a device is gone'
fi
refuses '--json ./lost: is also read, as MATRIX lost' show lost --root c --json ./lost
"$build/coll-hlot" show - --root c --json lost >out 2>err <lost && fail 'its input is overwritten'
grep -q -e '--json lost: is also read, as MATRIX /dev/stdin' err || fail 'its input is overwritten'
refuses '--output ./r.json and --json r.json name the same file' draw lost --output ./r.json --json r.json
refuses '--root given twice' show lost --root a --root c
refuses '--seconds 1e300: a number from 0 to 1e+09' show lost --seconds 1e300

# Draws pictures. Without graphviz the error names its package.
if command -v dot >/dev/null; then
    hlot draw "$tests/hlot/figure1.txt" --output picture.svg || fail 'draw'
    grep -q '60 ms' picture.svg || fail 'draw: the title'
    rm picture.svg
else
    echo 'skipped: pictures, for want of graphviz'
fi
mkdir bin
ln -s /bin/true bin/ssh # Open MPI requires an ssh
PATH=$work/bin "$build/coll-hlot" draw lost --root c --output picture.svg >out 2>err </dev/null &&
    fail 'drawn without graphviz'
grep -q '^coll-hlot: picture.svg: .*install the Debian package graphviz$' err || fail 'no graphviz'
test -e picture.svg && fail 'a picture without graphviz'
exit 0
