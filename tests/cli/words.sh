#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests coll-words on small images made here: its verbs, its error lines, and that no incomplete file is
# left. Runs in the build directory.
set -u
. "$(dirname "$0")/../support/programs.sh"
words=$build/coll-words
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# Prints bytes from printf's octal or hexadecimal escapes.
bytes() {
    printf "$1"
}

# "repeat N TEXT" prints TEXT N times.
repeat() {
    yes "$2" | head -n "$1" | tr -d '\n'
}

# refused WORDS COMMAND...: expects exit status 1, one line on stderr that begins with "coll-words: " and
# contains WORDS, nothing on stdout, and no new file.
refused() {
    expected=$1
    shift
    ls -A >before
    "$@" >stdout 2>stderr
    status=$?
    sed -i '/^# /d' stderr # removes progress lines
    # mpirun prints more lines of its own.
    case $1 in three_ranks | "$mpirun") sed -i '/^coll-words: /!d' stderr ;; esac
    [ $status -eq 1 ] || fail "$*: status $status"
    [ ! -s stdout ] || fail "$*: wrote to stdout"
    [ "$(wc -l <stderr)" -eq 1 ] || fail "$*: not one line: $(cat stderr)"
    grep -q '^coll-words: ' stderr || fail "$*: $(cat stderr)"
    grep -qF -e "$expected" stderr || fail "$*: '$(cat stderr)' lacks '$expected'"
    ls -A | diff before - >difference || fail "$*: left $(cat difference)"
}
touch before stdout stderr difference

# works COMMAND...: expects exit status 0, and nothing on stderr.
works() {
    "$@" >stdout 2>stderr || fail "$*: $(cat stderr)"
    sed -i '/^# /d' stderr
    [ ! -s stderr ] || fail "$*: $(cat stderr)"
}

# Ten images of 20 x 20 with stripes of several widths; and the same file without its last byte.
{
    bytes '\000\000\010\003\000\000\000\012\000\000\000\024\000\000\000\024'
    for stripe in 1 2 3 4 5 6 7 8 9 10; do
        repeat 400 "$(repeat $stripe A)$(repeat $stripe z)" | head -c 400
    done
} >images.idx
head -c 4015 images.idx >cut.idx
gzip -c images.idx >images.idx.gz

# The program without a verb.
works "$words" --help
grep -q features stdout && grep -q sheet stdout || fail "--help does not list the verbs"
works "$words" --version
grep -q '^coll-words (libcoll) [0-9]' stdout || fail "--version: $(cat stdout)"
works "$words" features --help
grep -q -e '--stride S' stdout || fail "features --help lacks --stride"
works "$words" sheet --help
grep -q -e '--per-word M' stdout || fail "sheet --help lacks --per-word"
"$words" features --images images.idx --patch 8 --output lost.npy >/dev/full 2>stderr && fail "lost output"
grep -q "^coll-words: the output can.t be written" stderr || fail "lost output: $(cat stderr)"
rm lost.npy
refused "the verbs are features, encode, train, test, curve, sheet" "$words"
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
[ -z "$(find . -name '.*.coll-*')" ] || fail "temporary files are left: $(ls)"

# Features from invalid input.
refused "nowhere: No such file" "$words" features --images nowhere --output x.npy
refused "cut.idx: is cut off within image 10 of 10" \
    "$words" features --images cut.idx --patch 8 --output x.npy
head -c $(($(wc -c <images.idx.gz) / 2)) images.idx.gz >cut.gz
refused "cut.gz: is cut off" "$words" features --images cut.gz --patch 8 --output x.npy
refused "neither an IDX" "$words" features --images "$words" --output x.npy
refused "give a --patch of 20 at most" \
    "$words" features --images images.idx --patch 21 --output x.npy
refused "--patch 3: a number from 4 to 1024 is needed" "$words" features --patch 3 --output x.npy
refused "--stride 0: a number from 1 to 4294967295 is needed" "$words" features --stride 0 --output x.npy
refused "--limit 0: a number of at least 1 is needed" "$words" features --limit 0 --output x.npy
refused "--limit ten: a number" "$words" features --limit ten --output x.npy
refused "--threads 0: a number from 1" "$words" features --threads 0 --output x.npy
refused "--cells 17: a number from 1 to 16 is needed" "$words" features --cells 17 --output x.npy
refused "--bins 1: a number from 2 to 64 is needed" "$words" features --bins 1 --output x.npy
refused "--cells 9: a patch of 8 pixels has 8 at most" \
    "$words" features --images images.idx --patch 8 --cells 9 --output x.npy
refused "--output FILE.npy is missing; see coll-words features --help" "$words" features --images images.idx
refused "unexpected argument x.npy" "$words" features x.npy
refused "unexpected argument y;" "$words" features --output x.npy -- y
refused "unknown option --colour" "$words" features --colour
refused "option --output needs a value" "$words" features --output
refused "nowhere/x.npy: can't be written: directory nowhere: No such file" \
    "$words" features --images images.idx --patch 8 --output nowhere/x.npy
works "$words" features --images images.idx --patch 8 --output /dev/null
[ -c /dev/null ] || fail "/dev/null is gone"
mkfifo pipe
refused "pipe: can't be written: Illegal seek" \
    sh -c "cat pipe >/dev/null & exec '$words' features --images images.idx --output pipe"
rm pipe
# No output overwrites an input, whatever its name; links are followed.
ln -s images.idx link.idx
ln images.idx hard.idx
for output in images.idx ./images.idx link.idx hard.idx; do
    refused "--output $output: is also read, as --images images.idx" \
        "$words" features --images images.idx --patch 8 --output $output
done
mkdir folder
ln images.idx folder/1.png
refused "--output images.idx: is also read, as --images folder/1.png" \
    "$words" features --images folder --patch 8 --output images.idx
rm -r folder link.idx hard.idx
refused "--patch given twice" "$words" features --patch 8 --patch 9 --output x.npy
refused "--output given twice" "$words" features --output y.npy --output x.npy
cat images.idx.gz cut.idx >trailing.gz
refused "trailing.gz: holds other bytes after its gzipped data" \
    "$words" features --images trailing.gz --patch 8 --output x.npy
mkdir empty
refused "holds no PNG or JPEG" "$words" features --images empty --output x.npy
refused "empty: can't be written: it is a directory" \
    "$words" features --images images.idx --patch 8 --output empty
bytes '\000\000\010\003\000\000\000\000\000\000\000\024\000\000\000\024' >none.idx
refused "no images" "$words" features --images none.idx --output x.npy
# A limit on the size of files emulates a full disk (in units of 512 bytes; 1,210 patches exceed it).
small_disk() {
    (ulimit -f 64 && exec "$@")
}
refused "x.npy: can't be written: File too large" \
    small_disk "$words" features --images images.idx --patch 4 --stride 1 --output x.npy

# A sheet of words: 90 rows. The word of a row is its number modulo 4, and the centroids are the first rows.
works "$words" features --images images.idx --patch 8 --stride 6 --output f.npy
npy() { # TYPE SHAPE: prints a header of 128 bytes
    bytes '\223NUMPY\001\000\166\000'
    printf '%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
}
assignments() { # prints the words of 90 rows, with word 3 replaced by the escape $1
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
        --patch 8 "$@" --stride ${stride-6}
}
works sheet --output s.png
grep -q '^s.png: the 4 most used of 5 words' stdout || fail "sheet: $(cat stdout)"
head -c 8 s.png | od -An -tx1 | grep -q '89 50 4e 47 0d 0a 1a 0a' || fail "s.png is no PNG"
works sheet --output one.png --words 1 --per-word 1
[ "$(wc -c <one.png)" -lt "$(wc -c <s.png)" ] || fail "one word takes as much as four"
works sheet --output again.png
cmp s.png again.png || fail "the same sheet differs"
# The sheet is also an image, with features.
works "$words" features --images s.png --patch 16 --output png.npy

# Sheets from invalid input.
refused "f.npy has 90 rows but the images have 81 patches" sheet --output x.png --limit 9
stride=4 refused "f.npy has 90 rows but the images have more than 90" sheet --output x.png
for file in f.npy c.npy a.npy images.idx; do
    refused "--output $file: is also read" sheet --output $file
done
refused "--assign FILE.npy is missing" "$words" sheet --features f.npy --centroids c.npy --output x.png
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
refused "--words 0: a number from 1" sheet --words 0 --output x.png
refused "nowhere/x.png: can't be written" sheet --output nowhere/x.png

# Histograms: 9 patches in each of ten images, 5 words, the same for any number of ranks.
labelled() { # COUNT: prints labels, 0 for the first five and 1 for the rest
    bytes "\\000\\000\\010\\001\\000\\000\\000\\$(printf %03o "$1")"
    for image in $(seq "$1"); do
        if [ "$image" -le 5 ]; then bytes '\000'; else bytes '\001'; fi
    done
}
labelled 10 >labels.idx
{
    npy '|u1' '(5, 512)'
    for row in 4 20 42 60 85; do tail -c +$((129 + row * 512)) f.npy | head -c 512; done
} >w.npy
encode() {
    "$words" encode --images images.idx --patch 8 --stride 6 --threads 1 "$@" --centroids "${centroids-w.npy}"
}
works encode --labels labels.idx --output h.svm
grep -q '^h.svm: 10 images as histograms of 25 bins, 5 words and 2 levels' stdout ||
    fail "encode: $(cat stdout)"
# The same words as float32, whose last two bytes hold a whole number up to 255.
{
    npy '<f4' '(5, 512)'
    # shellcheck disable=SC2059
    printf "$(tail -c +129 w.npy | od -An -v -tu1 -w1 | awk '{
        for (e = 0; 2 ^ (e + 1) <= $1; e++);
        bits = $1 ? (127 + e) * 128 + ($1 - 2 ^ e) * 2 ^ (7 - e) : 0
        printf "\\000\\000\\%03o\\%03o", bits % 256, int(bits / 256)
    }')"
} >real.npy
centroids=real.npy works encode --labels labels.idx --output n.svm
cmp h.svm n.svm || fail "the same words as float32 give other histograms"
{ npy '<f4' '(1, 512)' && head -c 2048 /dev/zero | tr '\000' G; } >large.npy
centroids=large.npy refused "large.npy: has a feature of 51015.3; those of bytes are from 0 to 255" \
    encode --output x.svm
[ "$(cut -d ' ' -f 1 h.svm | tr -d '\n')" = 0000011111 ] || fail "labels: $(cat h.svm)"
# "sums POWER FILE" prints the sum of the values of each line, to that power.
sums() {
    awk -v power="$1" '{ sum = 0; for (i = 2; i <= NF; i++) { split($i, pair, ":"); sum += pair[2] ^ power }
        printf "%.3f ", sum }' "$2"
}
for norm in "counts 1 18.000" "l1 1 1.000" "l2 2 1.000" "hellinger 2 1.000"; do
    set -- $norm
    works encode --norm "$1" --output n.svm
    for sum in $(sums "$2" n.svm); do
        [ "$sum" = "$3" ] || fail "--norm $1 gives sums of $(sums "$2" n.svm)"
    done
done
works encode --pyramid 1 --norm counts --output n.svm
[ "$(sums 1 n.svm)" = "$(repeat 10 '9.000 ')" ] || fail "--pyramid 1: $(cat n.svm)"
seq 10 | sed 's/[1-5]$/0/; s/[6-9]$/1/; s/10$/1/' >labels.txt
gzip -kn labels.txt
works encode --labels labels.txt.gz --output n.svm
cmp h.svm n.svm || fail "labels as text give another file"
many() { # RANKS ARGUMENTS...: encodes 200 images, more than a block for each of 3 ranks
    ranks=$1
    shift
    # shellcheck disable=SC2046 # a list of paths
    "$mpirun" -n "$ranks" "$words" encode --patch 8 --stride 12 --centroids w.npy --threads 1 \
        --images $(repeat 20 "images.idx ") "$@"
}
many 1 --output one.svm >stdout || fail "encode with one rank"
[ "$(wc -l <one.svm)" -eq 200 ] || fail "not 200 lines"
for ranks in 2 5; do
    many $ranks --output many.svm >stdout || fail "encode with $ranks ranks"
    cmp one.svm many.svm || fail "$ranks ranks give another file"
done

# Histograms from invalid input, on one rank and on three.
labelled 9 >few.idx
labelled 11 >more.idx
three_ranks() {
    "$mpirun" -n 3 "$words" encode --patch 8 --stride 6 --threads 1 --output x.svm "$@"
}
refused "few.idx: has 9 labels, but there are more images" \
    encode --labels few.idx --output x.svm
refused "more.idx: has 11 labels for 10 images" encode --labels more.idx --output x.svm
refused "more.idx: has 11 labels for 10 images" \
    three_ranks --images images.idx --centroids w.npy --labels more.idx
refused "f.npy:1: is not an integer; labels are" encode --labels f.npy --output x.svm
refused "w.npy has 512 columns where 2 x 2 cells of 32 bins make 128" \
    encode --cells 2 --output x.svm
refused "w.npy has 512 columns where 2 x 2 cells of 32 bins make 128" \
    three_ranks --images images.idx --centroids w.npy --cells 2
refused "cut.idx: is cut off within image 10 of 10" \
    three_ranks --images images.idx cut.idx --centroids w.npy
centroids=a.npy refused "a.npy: has 1 dimensions of int32" encode --output x.svm
centroids=nowhere refused "nowhere: No such file" encode --output x.svm
for file in w.npy images.idx labels.idx; do
    refused "--output $file: is also read" encode --labels labels.idx --output $file
done
cp labels.txt.gz labels.gz
echo more >>labels.gz
refused "labels.gz: holds other bytes after its gzipped data" encode --labels labels.gz --output x.svm
mkfifo pipe
refused "pipe: can't be read from the begin again: Illegal seek" \
    sh -c "cat labels.txt >pipe & exec '$words' encode --images images.idx --patch 8 --centroids w.npy --labels pipe --output x.svm"
rm pipe
refused "--norm l3: allowed: counts, l1, l2, hellinger" encode --norm l3 --output x.svm
refused "--pyramid 9: a number from 1 to 4 is needed" three_ranks --pyramid 9
refused "--centroids FILE.npy is missing" "$words" encode --output x.svm
refused "nowhere/x.svm: can't be written" encode --output nowhere/x.svm
works encode --labels more.idx --limit 9 --output n.svm
[ "$(wc -l <n.svm)" -eq 9 ] || fail "encode --limit"

# Images that cannot be decoded are named, or skipped and counted.
mkdir mixed
cp s.png mixed/a.png
head -c 300 s.png >mixed/b.png
cp s.png mixed/c.png
: >mixed/d.jpg
describe() {
    "$words" features --images mixed --patch 16 --stride 16 "$@"
}
refused "mixed/b.png: " describe --output x.npy
describe --skip-bad --output mixed.npy >stdout 2>stderr || fail "--skip-bad: $(cat stderr)"
grep -q '^2 images left out' stdout || fail "--skip-bad: $(cat stdout)"
grep -q 'left out: mixed/b.png: ' stderr && grep -q 'left out: mixed/d.jpg: ' stderr ||
    fail "--skip-bad: $(cat stderr)"
printf '1\n2\n3\n4\n' >four.txt
for ranks in 1 3; do
    refused "mixed/b.png: " "$mpirun" -n $ranks "$words" encode --images mixed --patch 16 \
        --centroids w.npy --output x.svm
    "$mpirun" -n $ranks "$words" encode --images mixed --patch 16 --stride 16 --skip-bad \
        --labels four.txt --centroids w.npy --output mixed.svm >stdout 2>stderr ||
        fail "encode --skip-bad: $(cat stderr)"
    grep -q '^2 images left out' stdout || fail "encode --skip-bad: $(cat stdout)"
    [ "$(cut -d ' ' -f 1 mixed.svm | tr -d '\n')" = 13 ] || fail "labels after --skip-bad"
done

# Classification, if liblinear is available.
if "$words" train --input nowhere --model x 2>&1 | grep -q 'no liblinear'; then
    echo "skipped: classification, for want of liblinear"
else
    "$words" train --input h.svm --model h.model --cost 10 --progress-every 0 >stdout 2>stderr ||
        fail "train: $(cat stderr)"
    grep -q '^# h.svm: 10 rows read$' stderr || fail "progress of train: rows"
    grep -q '^# cost 10: trained for \([0-9]*\) of \1 classes$' stderr || fail "progress of train: classes"
    works "$words" test --input h.svm --model h.model --json h.json --words 5 --seed 1
    grep -q '^accuracy: 10 of 10, 100.00%' stdout || fail "test: $(cat stdout)"
    grep -q '"words": 5, "seed": 1, "rows": 10, "correct": 10, "percent": 100' h.json ||
        fail "test --json: $(cat h.json)"
    # Held-out rows choose a cost. Labels alternate, so that every fourth row would be of one class.
    awk 'BEGIN { srand(1); for (i = 0; i < 1000; i++) print i % 2, "1:" (i % 2 ? 1 : -1) * rand() }' >line.svm
    works "$words" train --input line.svm --model line.model --cost 0.5,2 --kept-of 4
    [ "$(grep -c '^cost [0-9.]*: [0-9]* of 2[0-9][0-9] rows kept back are right' stdout)" = 2 ] ||
        fail "train --cost 0.5,2: $(cat stdout)"
    sed -n 's/^cost \([0-9.]*\): \([0-9]*\) .*/\2 \1/p' stdout | sort -s -n -r -k 1,1 >costs
    grep -q "trained on 1000 rows with cost $(head -n 1 costs | cut -d ' ' -f 2) in" stdout ||
        fail "not the best cost: $(cat stdout)"
    works "$words" train --input line.svm --model again.model --cost "$(head -n 1 costs | cut -d ' ' -f 2)"
    cmp line.model again.model || fail "a chosen cost makes another model than the same one given"
    refused "h.svm: 10 rows are too few to keep one of 1000 back" \
        "$words" train --input h.svm --model x.model --cost 1,2 --kept-of 1000
    refused "--kept-of 1: a number from 2" "$words" train --input h.svm --model x.model --kept-of 1
    refused "--cost x: a number above 0" "$words" train --input h.svm --cost 1,x --model x.model
    printf '7 1:1 99:1\n0 1:1\n' >other.svm
    works "$words" test --input other.svm --model h.model
    grep -q 'unknown  *1  *0' stdout || fail "an unknown class: $(cat stdout)"
    svm() { # WORDS CONTENT: refused as input
        printf "$2" >bad.svm
        refused "$1" "$words" train --input bad.svm --model x.model
    }
    svm "bad.svm: is empty" ''
    svm "bad.svm:1: begins with no label" 'one 1:1\n'
    svm "bad.svm:2: is no line of LIBSVM" '1 1:1\n2 0:1\n'
    svm "bad.svm:1: is no line of LIBSVM" '1 2:1 1:1\n'
    svm "bad.svm:1: is no line of LIBSVM" '1 1:nan\n'
    svm "bad.svm:1: is no line of LIBSVM" '1 1\n'
    svm "bad.svm:1: is no line of LIBSVM" '1 1:\n'
    svm "bad.svm:1: is no line of LIBSVM" '1 99999999999:1\n'
    svm "bad.svm: indices up to 1000000000 and 3 classes are too many for liblinear" \
        '1 1000000000:1\n2 1:1\n3 1:1\n'
    printf '1 1:1e-400\n0 1:1\n' >small.svm
    works "$words" train --input small.svm --model small.model
    svm "all 2 rows are of one class" '1 1:1\n1 2:1\n'
    refused "nowhere: No such file" "$words" train --input nowhere --model x.model
    refused "--cost 0: a number above 0" "$words" train --input h.svm --cost 0 --model x.model
    refused "--cost 1e300: a number above 0, up to 1e+09, is needed" \
        "$words" train --input h.svm --cost 1e300 --model x.model
    refused "--model h.svm: is also read, as --input h.svm" "$words" train --input h.svm --model h.svm
    refused "--json h.model: is also read, as --model h.model" \
        "$words" test --input h.svm --model h.model --json h.model
    refused "nowhere/x: can't be written" "$words" train --input h.svm --model nowhere/x
    refused "h.svm: is no model" "$words" test --input h.svm --model h.svm
    printf 'solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 2\nbias -1\nw\n0.5 \n0.5 \n' >other.model
    refused "other.model: has no classes" "$words" test --input h.svm --model other.model
    head -c 200 h.model | sed 's/^nr_feature .*/nr_feature 2000000000/' >huge.model
    refused "huge.model: is no model of liblinear, or cut off" \
        "$words" test --input h.svm --model huge.model
fi

# The curve.
result() { # WORDS SEED PERCENT
    printf '{"words": %d, "seed": %d, "rows": 10, "correct": 1, "percent": %s}\n' "$@"
}
{ result 64 1 80; result 64 2 82; } >64.json
result 32 1 79.5 >32.json
works "$words" curve --results 64.json 32.json --json curve.json
[ "$(sed -n 's/^ *\([0-9]\)/\1/p' stdout | tr -s ' \n' ' ')" = \
    "32 1 79.50 79.50 79.50 64 2 81.00 80.00 82.00 " ] || fail "curve: $(cat stdout)"
grep -q 'within noise: yes' stdout || fail "curve: $(cat stdout)"
grep -q '"words": 64, "runs": 2, "mean_percent": 81, ' curve.json || fail "$(cat curve.json)"
result 128 1 78.9 >128.json
works "$words" curve --results 64.json 128.json
grep -q 'within noise: no' stdout || fail "a curve that falls: $(cat stdout)"
if command -v gnuplot >/dev/null; then
    works "$words" curve --results 64.json 32.json --output "it's.png" --title "it's one"
    head -c 8 "it's.png" | od -An -tx1 | grep -q '89 50 4e 47' || fail "the curve is no PNG"
else
    echo "skipped: the curve's plot, for want of gnuplot"
fi
refused "--json 64.json: is also read, as --results 64.json" \
    "$words" curve --results 64.json --json 64.json
refused "--json x and --output ./x name the same file" \
    "$words" curve --results 64.json --json x --output ./x
cp curve.json kept.json
refused "h.svm:1: has no words and percent" "$words" curve --results h.svm --json kept.json
cmp curve.json kept.json || fail "an old file is touched by a failure"
refused "h.svm:1: has no words and percent" "$words" curve --results h.svm
refused "--results FILE... is missing" "$words" curve
refused "nowhere: No such file" "$words" curve --results nowhere

[ $failures -eq 0 ] || exit 1
echo "all good"
