#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests coll-info draw: pictures are XML in which every rank has its line, and every error is one clear line
# without a file.
set -u
. "$(dirname "$0")/../support/programs.sh"
export COLL_PROFILE=built-in

is_xml() {
    if command -v xmllint >out 2>&1; then
        xmllint --noout "$1" >out 2>err
    else
        python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' "$1" >out 2>err
    fi
}

# draws RANKS ARGUMENTS...: expects a good picture of RANKS ranks in picture.svg.
draws() {
    ranks=$1
    shift
    $limited "$build/coll-info" draw "$@" --ranks "$ranks" --output picture.svg >out 2>err </dev/null ||
        fail "draw $* of $ranks ranks"
    [ ! -s out ] || fail "draw $* prints something"
    is_xml picture.svg || fail "draw $* of $ranks ranks is no XML"
    rank=0
    while [ "$rank" -lt "$ranks" ]; do
        [ "$(grep -c ", rank $rank</text>" picture.svg)" = 1 ] || fail "draw $*: not one line of rank $rank"
        rank=$((rank + 1))
    done
}
arrows() {
    grep -c '<path class="[ae][0-9]" d="M[0-9]* [0-9]*L' picture.svg
}

draws 1 bcast 1 --algorithm chain
draws 7 bcast 20K --algorithm two_tree:segment=2K --racks 3 --root 4
grep -q 'bcast of 20 KB by two_tree: ' picture.svg || fail "the title"
grep -q 'rack 2</text>' picture.svg || fail "the racks"
[ "$(grep -c '>in</text>' picture.svg)" = 3 ] || fail "the uplinks"
[ "$(arrows)" = 60 ] || fail "10 messages to each of 6 ranks, not $(arrows)"
draws 40 bcast 1M --algorithm chain --racks 4
grep -q '1 in [0-9]* between two ranks is drawn' picture.svg || fail "nothing says that messages are left out"
[ "$(arrows)" -le 2500 ] || fail "$(arrows) arrows are too many"
# The same call gives the same picture.
mv picture.svg first.svg
draws 40 bcast 1M --algorithm chain --racks 4
cmp first.svg picture.svg || fail "another picture of the same call"

# In a gather all ranks have data from the start; in a broadcast only the root does.
having() {
    grep -c '<path class="h" d="M2000 [0-9]*H[0-9]*"/>$' picture.svg
}
draws 5 gather 1K --algorithm linear --root 4
[ "$(having)" = 5 ] || fail "not all ranks of a gather have data"
draws 5 bcast 1K --algorithm chain --root 4
[ "$(having)" = 1 ] || fail "not the root of a broadcast alone has data"

# The hosts of running ranks have their names in the picture.
$limited "$mpirun" -n 2 "$build/coll-info" draw bcast 64K --algorithm two_tree --output two.svg >out 2>err ||
    fail "draw under mpirun"
is_xml two.svg || fail "draw under mpirun is no XML"
grep -q "^<text.*$(uname -n | cut -d. -f1).*, rank 1</text>" two.svg || fail "no host in the picture"

# refuses TEXT ARGUMENTS...: expects an error of one line with TEXT; an older picture is unchanged.
refuses() {
    text=$1
    shift
    echo old >old.svg
    $limited "$build/coll-info" draw "$@" --output old.svg >out 2>err </dev/null && fail "draw $*"
    [ "$(grep -c '^coll-info: ' err)" = 1 ] || fail "not one line: draw $*"
    grep -F -q -e "$text" err || fail "no \"$text\": draw $*"
    [ "$(cat old.svg)" = old ] || fail "another picture after an error: draw $*"
    [ "$(find . -name '*old.svg*' | wc -l)" = 1 ] || fail "files are left: draw $*"
}
refuses "draw needs an operation and a size" bcast
refuses "64Q is no size" bcast 64Q
refuses "unknown operation scam; known: bcast" scam 1K
refuses "algorithm=tree: unknown algorithm; allowed: " bcast 1K --algorithm tree
refuses "algorithm=chain:segment=x: " bcast 1K --algorithm chain:segment=x
refuses "native is no plan that can be drawn; name one of: " bcast 1K --algorithm native
refuses "native, which would run, is no plan that can be drawn; name one of: " bcast 1K --ranks 1
refuses "chain with these values is no plan" bcast 1K --algorithm chain:confirm=1
refuses "no algorithm of aggregate is a plan" aggregate 1K
refuses "hlot can't run this bcast" bcast 1K --ranks 4 --racks 2 --algorithm hlot
refuses "root 4 of 4 ranks" bcast 1K --ranks 4 --root 4 --algorithm chain
refuses "too many messages to draw; draw fewer bytes or ranks, or name longer segments" \
    bcast 4G --ranks 16 --algorithm chain:segment=1K
$limited "$build/coll-info" draw bcast 1K --algorithm chain >out 2>err && fail "draw without --output"
grep -q -e '--output' err || fail "draw without --output doesn't name it"
$limited "$build/coll-info" draw bcast 1K --algorithm chain --output /no/such/a.svg >out 2>err && fail "/no/such"
grep -q '/no/such/a.svg' err || fail "a path that isn't there"
echo "all as it should be"
