#!/bin/sh
# coll-words on small images made here: its verbs, its error lines, and that nothing half-written
# is left behind. Runs in the build directory.
set -u
words=$(pwd)/coll-words
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# Bytes by their octal or hexadecimal printf escapes.
bytes() {
    printf "$1"
}

# "repeat N TEXT" prints TEXT N times.
repeat() {
    yes "$2" | head -n "$1" | tr -d '\n'
}

# refused WORDS COMMAND...: exit status 1, one line on stderr that begins "coll-words: " and holds
# WORDS, nothing on stdout, no new file.
refused() {
    expected=$1
    shift
    ls -A >before
    "$@" >stdout 2>stderr
    status=$?
    [ $status -eq 1 ] || fail "$*: status $status"
    [ ! -s stdout ] || fail "$*: wrote to stdout"
    [ "$(wc -l <stderr)" -eq 1 ] || fail "$*: not one line: $(cat stderr)"
    grep -q '^coll-words: ' stderr || fail "$*: $(cat stderr)"
    grep -qF -e "$expected" stderr || fail "$*: '$(cat stderr)' lacks '$expected'"
    ls -A | diff before - >difference || fail "$*: left $(cat difference)"
}
touch before stdout stderr difference

# works COMMAND...: exit status 0, nothing on stderr.
works() {
    "$@" >stdout 2>stderr || fail "$*: $(cat stderr)"
    [ ! -s stderr ] || fail "$*: $(cat stderr)"
}

# Ten images of 20 x 20: stripes of several widths; and the same with its last byte missing.
{
    bytes '\000\000\010\003\000\000\000\012\000\000\000\024\000\000\000\024'
    for stripe in 1 2 3 4 5 6 7 8 9 10; do
        repeat 400 "$(repeat $stripe A)$(repeat $stripe z)" | head -c 400
    done
} >images.idx
head -c 4015 images.idx >cut.idx
gzip -c images.idx >images.idx.gz

# The program itself.
works "$words" --help
grep -q features stdout && grep -q sheet stdout || fail "--help does not list the verbs"
works "$words" --version
grep -q '^coll-words (libcoll) [0-9]' stdout || fail "--version: $(cat stdout)"
works "$words" features --help
grep -q -e '--stride S' stdout || fail "features --help lacks --stride"
works "$words" sheet --help
grep -q -e '--per-word M' stdout || fail "sheet --help lacks --per-word"
refused "the verbs are features, sheet" "$words"
refused "unknown verb 'draw'" "$words" draw

# Features: 3 x 3 patches of 8 pixels every 6 in each image, the same for any number of threads.
works "$words" features --images images.idx --patch 8 --stride 6 --threads 1 --output f.npy
[ "$(wc -c <f.npy)" -eq $((128 + 90 * 512)) ] || fail "f.npy has $(wc -c <f.npy) bytes"
head -c 128 f.npy | grep -aq "'descr': '|u1', 'fortran_order': False, 'shape': (90, 512)" ||
    fail "the header of f.npy"
[ "$(tail -c +129 f.npy | tr -d '\000' | wc -c)" -gt 1000 ] || fail "f.npy is nearly all zero"
for threads in 2 3 7; do
    works "$words" features --images images.idx --patch 8 --stride 6 --threads $threads \
        --output f$threads.npy
    cmp f.npy f$threads.npy || fail "$threads threads give other features"
done
works "$words" features --images images.idx.gz --patch=8 --stride=6 --output=z.npy
cmp f.npy z.npy || fail "gzipped images give other features"
works "$words" features --output two.npy --images images.idx images.idx.gz --patch 8 --stride 6
[ "$(wc -c <two.npy)" -eq $((128 + 180 * 512)) ] || fail "two files do not add up"
works "$words" features --images cut.idx --limit 9 --patch 8 --stride 6 --output nine.npy
[ "$(wc -c <nine.npy)" -eq $((128 + 81 * 512)) ] || fail "--limit does not limit"
works "$words" features --images images.idx --patch 20 --stride 99 --output f.npy
[ "$(wc -c <f.npy)" -eq $((128 + 10 * 512)) ] || fail "f.npy is not replaced"
[ -z "$(find . -name '*npy.*')" ] || fail "temporary files are left: $(ls)"

# Features from bad input.
refused "nowhere: No such file" "$words" features --images nowhere --output x.npy
refused "cut.idx: is cut off within image 10 of 10" \
    "$words" features --images cut.idx --patch 8 --output x.npy
head -c $(($(wc -c <images.idx.gz) / 2)) images.idx.gz >cut.gz
refused "cut.gz: is cut off" "$words" features --images cut.gz --patch 8 --output x.npy
refused "neither an IDX" "$words" features --images "$words" --output x.npy
refused "give a --patch of 20 at most" \
    "$words" features --images images.idx --patch 21 --output x.npy
refused "--patch 3: give an integer from 4 to 1024" "$words" features --patch 3 --output x.npy
refused "--stride 0: give an integer from 1" "$words" features --stride 0 --output x.npy
refused "--limit 0: give an integer from 1" "$words" features --limit 0 --output x.npy
refused "--limit ten: give" "$words" features --limit ten --output x.npy
refused "--threads 0: give" "$words" features --threads 0 --output x.npy
refused "--output is missing" "$words" features --images images.idx
refused "unexpected argument 'x.npy'" "$words" features x.npy
refused "unexpected argument 'y'" "$words" features --output x.npy -- y
refused "unrecognized option '--colour'" "$words" features --colour
refused "option '--output' requires an argument" "$words" features --output
refused "nowhere/x.npy: can't be written: directory nowhere: No such file" \
    "$words" features --images images.idx --patch 8 --output nowhere/x.npy
refused "/dev/null: can't be written: it is there and no regular file" \
    "$words" features --images images.idx --patch 8 --output /dev/null
mkdir empty
refused "holds no PNG" "$words" features --images empty --output x.npy
refused "empty: can't be written: it is there and no regular file" \
    "$words" features --images images.idx --patch 8 --output empty
bytes '\000\000\010\003\000\000\000\000\000\000\000\024\000\000\000\024' >none.idx
refused "no images" "$words" features --images none.idx --output x.npy
# The limit of a file's size stands for a full disk (in 512 bytes; 1,210 patches pass it).
small_disk() {
    (ulimit -f 64 && exec "$@")
}
refused "x.npy: can't be written: File too large" \
    small_disk "$words" features --images images.idx --patch 4 --stride 1 --output x.npy

# A sheet of words: 90 rows, the row's number modulo 4 as its word, the first rows as centroids.
works "$words" features --images images.idx --patch 8 --stride 6 --output f.npy
npy() { # TYPE SHAPE: a header of 128 bytes
    bytes '\223NUMPY\001\000\166\000'
    printf '%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
}
assignments() { # the words of 90 rows, word 3 replaced by the escape $1
    for row in $(seq 0 89); do
        case $((row % 4)) in
        0) bytes '\000\000\000\000' ;;
        1) bytes '\001\000\000\000' ;;
        2) bytes '\002\000\000\000' ;;
        3) bytes "$1" ;;
        esac
    done
}
{ npy '|u1' '(5, 512)'; tail -c +129 f.npy | head -c 2560; } >c.npy
{ npy '<i4' '(90,)'; assignments '\003\000\000\000'; } >a.npy
sheet() {
    "$words" sheet --features f.npy --centroids c.npy --assign a.npy --images images.idx \
        --patch 8 --stride 6 "$@"
}
works sheet --output s.png
grep -q '^s.png: the 4 most used of 5 words' stdout || fail "sheet: $(cat stdout)"
head -c 8 s.png | od -An -tx1 | grep -q '89 50 4e 47 0d 0a 1a 0a' || fail "s.png is no PNG"
works sheet --output one.png --words 1 --per-word 1
[ "$(wc -c <one.png)" -lt "$(wc -c <s.png)" ] || fail "one word takes as much as four"
works sheet --output again.png
cmp s.png again.png || fail "the same sheet differs"
# The sheet is an image too: it can be described.
works "$words" features --images s.png --patch 16 --output png.npy

# Sheets from bad input.
refused "f.npy has 90 rows but the images have 81 patches" sheet --output x.png --limit 9
refused "f.npy has 90 rows but the images have more than 90" sheet --output x.png --stride 4
refused "--assign is missing" "$words" sheet --features f.npy --centroids c.npy --output x.png
refused "a.npy: has 1 dimensions of int32; 2 of uint8" \
    "$words" sheet --features a.npy --centroids c.npy --assign a.npy --output x.png
refused "c.npy: has 2 dimensions of uint8; 1 of int32" \
    "$words" sheet --features f.npy --centroids c.npy --assign c.npy --output x.png
{ npy '|u1' '(5, 511)'; tail -c +129 f.npy | head -c 2555; } >narrow.npy
refused "narrow.npy has 511 columns where f.npy has 512" \
    "$words" sheet --features f.npy --centroids narrow.npy --assign a.npy --output x.png
{ npy '<i4' '(91,)'; assignments '\003\000\000\000'; bytes '\000\000\000\000'; } >long.npy
refused "long.npy has 91 rows where f.npy has 90" \
    "$words" sheet --features f.npy --centroids c.npy --assign long.npy --output x.png
{ npy '<i4' '(90,)'; assignments '\005\000\000\000'; } >far.npy
refused "far.npy: row 3 is assigned to 5, but c.npy has 5 centroids" \
    "$words" sheet --features f.npy --centroids c.npy --assign far.npy --output x.png
{ npy '<i4' '(90,)'; assignments '\377\377\377\377'; } >negative.npy
refused "negative.npy: row 3 is assigned to -1" \
    "$words" sheet --features f.npy --centroids c.npy --assign negative.npy --output x.png
head -c 1000 f.npy >cut.npy
refused "cut.npy: holds 872 bytes of data where its header promises 46080" \
    "$words" sheet --features cut.npy --centroids c.npy --assign a.npy --output x.png
refused "images.idx: is not a .npy file" \
    "$words" sheet --features images.idx --centroids c.npy --assign a.npy --output x.png
refused "--words 0: give" sheet --words 0 --output x.png
refused "nowhere/x.png: can't be written" sheet --output nowhere/x.png

[ $failures -eq 0 ] || exit 1
echo "all good"
