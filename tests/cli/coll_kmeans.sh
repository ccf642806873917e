#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests coll-kmeans as users run it: the same files for any number of ranks and threads, and one clear line
# for every error, with no files under the final names.
set -u
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../support/programs.sh"
program=$build/coll-kmeans
disk=$work/disk
trap 'umount "$disk" 2>/dev/null; rm -rf "$work"' EXIT

# run RANKS ARGUMENTS...: runs the program under mpirun, with its output in out and err.
run() {
    ranks=$1
    shift
    $limited "$mpirun" -n "$ranks" "$program" "$@" >out 2>err </dev/null
}

# refuses TEXT ARGUMENTS...: expects an error with one line that has TEXT, and no files, at each number of
# ranks in $counts.
counts="1 3"
refuses() {
    text=$1
    shift
    for n in $counts; do
        mkdir results
        run "$n" "$@"
        status=$?
        test $status -ne 0 && test $status -ne 124 || fail "status $status with $n ranks: $*"
        test "$(grep -c '^coll-kmeans: ' err)" = 1 || fail "not one line with $n ranks: $*"
        grep -F -q -e "$text" err || fail "no \"$text\" with $n ranks: $*"
        rmdir results || fail "files are left with $n ranks: $*"
    done
}

# Input in the papers' text format: 600 points of 20 features around 9 centres.
awk 'BEGIN {
    srand(3)
    for (i = 0; i < 9 * 20; i++) middle[i] = int(rand() * 200)
    for (row = 0; row < 600; row++) {
        group = int(rand() * 9)
        printf "picture%d %d %d", row / 5, row % 5, row * 2
        for (i = 0; i < 20; i++) printf " %d", middle[group * 20 + i] + int(rand() * 50)
        print ""
    }
}' >points.txt

# These work without mpirun and MPI.
"$program" --help | grep -q -- '--centroids' || fail "--help"
"$program" --version | grep -q '^coll-kmeans .*[0-9]\.[0-9]' || fail "--version"

# Results have the same bits at any number of ranks and threads.
run 1 --k 12 --threads 1 points.txt --centroids c.npy --assign a.npy --json steps.json ||
    fail "one rank"
test "$(wc -c <c.npy)" = $((128 + 12 * 20)) || fail "size of the centroids"
test "$(wc -c <a.npy)" = $((128 + 600 * 4)) || fail "size of the assignment"
for by in "1 2" "1 4" "2 1" "2 2" "3 4" "5 2" "8 1"; do
    run ${by% *} --assign a2.npy points.txt --threads ${by#* } --centroids c2.npy --k 12 ||
        fail "$by: ranks, threads"
    cmp c.npy c2.npy && cmp a.npy a2.npy || fail "other files at $by: ranks, threads"
    rm c2.npy a2.npy
done
run 3 --k 12 points.txt --centroids c2.npy --assign a2.npy --start k-means++ --progress-every 0 ||
    fail "--progress-every"
for line in 'counting the lines of points.txt: ' 'reading points.txt: 0' 'start by k-means++: [5-9][0-9]' 'iteration 1 of 10: '; do
    grep -q "^# $line.*%" err || fail "progress: no $line"
done
run 2 --k 12 points.txt --centroids c2.npy --assign a2.npy --start 'k-means||' --progress-every 0 ||
    fail "--progress-every with k-means||"
grep -q '^# start by k-means||: [0-9]*%$' err || fail "progress: k-means||"
run 2 --k 12 points.txt --centroids c2.npy --assign a2.npy --start afk-mc2 --progress-every 0 ||
    fail "--progress-every with afk-mc2"
grep -q '^# start by afk-mc2: [0-9]*%$' err || fail "progress: afk-mc2"
COLL_TRACE=1 run 3 --k 12 --bcast chain:segment=32K points.txt --centroids c2.npy --assign a2.npy ||
    fail "--bcast chain"
grep -q '^coll: bcast .*choice=chain:segment=32K,' err || fail "--bcast chain: another algorithm ran"
cmp c.npy c2.npy && cmp a.npy a2.npy || fail "other files with --bcast chain"
# The same points in two files, in any order, and as their directory.
mkdir parts
head -n 250 points.txt >parts/a.txt
tail -n +251 points.txt >parts/b.txt
for points in parts "parts/b.txt parts/a.txt"; do
    # shellcheck disable=SC2086 # a list of files
    run 2 --k 12 $points --centroids c2.npy --assign a2.npy || fail "points in $points"
    cmp c.npy c2.npy && cmp a.npy a2.npy || fail "other files from $points"
done

# Without --assign only the centroids are written. The times of all parts are printed.
run 2 --k 12 points.txt --centroids c2.npy || fail "no --assign"
cmp c.npy c2.npy || fail "other centroids without --assign"
grep -q '^time: reading .* first centroids .* iterations .* final assignment .* writing ' out || fail "times"

# The JSON has a line for each iteration, and the objective never rises.
grep -c '"iteration": ' steps.json >count
test "$(cat count)" -ge 2 || fail "too few steps"
sed -n 's/.*"objective": \([0-9]*\),.*/\1/p' steps.json >objectives
sort -n -r -c objectives || fail "the objective rises: $(tr '\n' ' ' <objectives)"
test "$(wc -l <objectives)" = $(($(cat count) + 1)) || fail "an objective each, and the final one"

# Centroids can be used as points. With as many clusters as points they do not change.
run 2 --k 12 c.npy --centroids c3.npy --assign a3.npy || fail "centroids as points"
grep -q '^final objective 0,' out || fail "a centroid on each point"
# Two files give two copies of the points.
run 3 --k 5 --iterations 2 points.txt points.txt --centroids c3.npy --assign a3.npy ||
    fail "two files"
test "$(wc -c <a3.npy)" = $((128 + 1200 * 4)) || fail "two files' assignment"
rm -f c2.npy a2.npy c3.npy a3.npy
# Results replace older ones.
run 2 --k 12 --seed 2 points.txt --centroids c.npy --assign a.npy --tolerance 1000 || fail "tolerance"
grep -q '^1 iteration ' out || fail "a tolerance stops at once"
test "$(find . -name '*.npy*' -o -name '.*.coll-*' | wc -l)" = 2 || fail "temporary files are left"

# Other starts and stop options: the same bits at any number of ranks, also with points on disk.
for start in k-means++ 'k-means||:rounds=3' 'k-means||:memory=100' afk-mc2:chain=20 file:c.npy; do
    run 1 --k 12 --start "$start" points.txt --centroids c2.npy --assign a2.npy || fail "$start"
    run 3 --k 12 --start "$start" points.txt --centroids c3.npy --assign a3.npy --mapped . ||
        fail "$start, mapped"
    cmp c2.npy c3.npy && cmp a2.npy a3.npy || fail "--start $start depends on the ranks"
done
run 2 --k 5 --start k-means++ c2.npy --mapped . --centroids c3.npy --assign a3.npy ||
    fail "a mapped .npy"
for stop in "--moved 1" "--gain 1"; do
    run 2 --k 12 $stop points.txt --centroids c3.npy --assign a3.npy || fail "$stop"
    grep -q '^2 iterations ' out || fail "$stop stops as soon as there is something to compare"
done
run 2 --k 12 --seconds 0 points.txt --centroids c3.npy --assign a3.npy || fail "--seconds"
grep -q '^0 iterations .*the time is up' out || fail "--seconds 0 leaves no time for one"
rm -f c2.npy a2.npy c3.npy a3.npy

# Growing batches: the same bits at any number of ranks and threads, for byte and float centroids. A batch
# of all points gives the same result as no batch.
for as in bytes float; do
    run 1 --k 12 --centroids-as $as --batch 50 --iterations 1 --threads 1 points.txt --centroids c2.npy \
        --assign a2.npy --json steps.json || fail "--batch, $as"
    test "$(grep -c '^on [0-9]* points:' out)" = 5 || fail "--batch 50: not 50, 100, 200, 400 and 600"
    sed -n 's/.*"iteration": .*"points": \([0-9]*\),.*/\1/p' steps.json >batches
    sort -n -c batches && test "$(tail -n 1 batches)" = 600 || fail "--batch: sizes do not grow"
    for by in "2 2" "3 1" "5 2"; do # --quality-every must not change the result
        run "${by% *}" --k 12 --centroids-as $as --batch 50 --quality-every 2 --iterations 1 --threads "${by#* }" points.txt \
            --centroids c3.npy --assign a3.npy || fail "--batch: $by"
        cmp c2.npy c3.npy && cmp a2.npy a3.npy || fail "--batch, $as: other files at $by: ranks, threads"
        test "$(grep -c '^ *all ' out)" = 2 || fail "--quality-every 2: not after 100 and 400 points"
    done
done
run 2 --k 12 --batch 600 points.txt --centroids c2.npy --assign a2.npy || fail "a batch of all"
run 1 --k 12 points.txt --centroids c3.npy --assign a3.npy || fail "no batch"
cmp c2.npy c3.npy && cmp a2.npy a3.npy || fail "a batch of all points is not the plain way"
run 2 --k 12 --batch 50 --seconds 0 points.txt --centroids c3.npy --assign a3.npy || fail "--batch: no time"
grep -q '^0 iterations .*the time is up' out || fail "--batch --seconds 0 leaves no time for one"
rm -f c2.npy a2.npy c3.npy a3.npy

# Projections, which are kept from iteration to iteration, change no bit: with empty clusters, with float
# centroids, and in a run resumed from its checkpoint. The points are along 6 axes, and every tenth is
# repeated.
awk 'BEGIN {
    srand(5)
    for (i = 0; i < 6 * 256; i++) axis[i] = rand() - 0.5
    for (row = 0; row < 2400; row++) {
        if (row % 10 || !row) {
            for (a = 0; a < 6; a++) part[a] = 120 * (rand() - 0.5)
            line = ""
            for (i = 0; i < 256; i++) {
                x = 120 + rand() * 8
                for (a = 0; a < 6; a++) x += part[a] * axis[a * 256 + i]
                line = line " " int(x < 0 ? 0 : x > 255 ? 255 : x)
            }
        }
        print "picture" row, 0, 0 line
    }
}' >alike.txt
for as in bytes float; do
    run 1 --k 1100 --iterations 4 --centroids-as $as --threads 1 --whole alike.txt \
        --centroids whole.npy --assign whole_a.npy || fail "--whole: $as"
    awk '/^ +[0-9]+ / { sum += $6 } END { exit !sum }' out || fail "no cluster was refilled: $as"
    for by in "1 1" "1 3" "2 2"; do
        for iterations in 2 4; do
            run ${by% *} --threads ${by#* } --k 1100 --iterations $iterations --centroids-as $as \
                alike.txt --centroids c2.npy --assign a2.npy --checkpoint sieved --every 1 \
                --resume || fail "sketches: $as, $by"
        done
        cmp whole.npy c2.npy && cmp whole_a.npy a2.npy || fail "sketches give other files: $as, $by"
        rm -r c2.npy a2.npy sieved
    done
done

# Centroids of float32: the same bits at any number of ranks and threads, also in a resumed run, and as a
# start.
run 1 --k 12 --centroids-as float --threads 1 --iterations 4 points.txt --centroids c2.npy \
    --assign a2.npy || fail "--centroids-as float"
test "$(wc -c <c2.npy)" = $((128 + 12 * 20 * 4)) || fail "size of float centroids"
grep -q "'<f4'" c2.npy || fail "type of float centroids"
for by in "2 2" "3 1" "5 2"; do
    run "${by% *}" --k 12 --centroids-as float --threads "${by#* }" --iterations 4 points.txt \
        --centroids c3.npy --assign a3.npy --checkpoint fine --every 1 --resume || fail "float: $by"
    cmp c2.npy c3.npy && cmp a2.npy a3.npy || fail "float: other files at $by: ranks, threads"
done
run 2 --k 12 --centroids-as float --iterations 2 points.txt --centroids c3.npy --assign a3.npy ||
    fail "float: 2 iterations"
run 2 --k 12 --centroids-as float --iterations 2 --start file:c3.npy points.txt \
    --centroids c4.npy --assign a3.npy || fail "float centroids as a start"
cmp c2.npy c4.npy && cmp a2.npy a3.npy || fail "float: 2 iterations and 2 are not 4"
for as in float bytes; do # float centroids are closer to the exact mean
    run 1 --k 1 --centroids-as $as points.txt --centroids c3.npy --assign a3.npy || fail "$as"
    sed -n 's/^final objective \([0-9]*\).*/\1/p' out
done >objectives
sort -n -u -c objectives || fail "float centroids are no better than bytes"
rm -rf c2.npy a2.npy c3.npy a3.npy c4.npy fine

# Real features: float32 centroids, the same bits everywhere.
for i in 1 2 3 4 5 6 7 8 9 10; do
    printf '\002\000\000\000\000\000\300\077\000\000\020\300' # 1.5 -2.25
    test $((i % 3)) != 0 || printf '\002\000\000\000\000\000\000\076\000\000\100\100' # 0.125 3
done >real.fvecs
run 1 --k 2 --threads 1 real.fvecs --centroids c2.npy --assign a2.npy || fail "real features"
test "$(wc -c <c2.npy)" = $((128 + 2 * 2 * 4)) || fail "size of real centroids"
grep -q "'<f4'" c2.npy || fail "type of real centroids"
grep -q '^final objective 0$' out || fail "two kinds of points have two centroids"
run 3 --k 2 --threads 2 real.fvecs --centroids c3.npy --assign a3.npy || fail "3 ranks"
cmp c2.npy c3.npy && cmp a2.npy a3.npy || fail "real: other files at 3 ranks"
COLL_KMEANS_KERNEL=scalar run 2 --k 2 real.fvecs --centroids c3.npy --assign a3.npy ||
    fail "another kernel"
cmp c2.npy c3.npy && cmp a2.npy a3.npy || fail "real: other files with another kernel"
run 2 --k 2 --start file:c2.npy real.fvecs --centroids c3.npy --assign a3.npy ||
    fail "real centroids as a start"
cmp c2.npy c3.npy && cmp a2.npy a3.npy || fail "real: another result from the result"
refuses "--centroids-as bytes: the features are real numbers" \
    --k 2 --centroids-as bytes real.fvecs --centroids results/c.npy --assign results/a.npy
for start in k-means++ 'k-means||' afk-mc2; do
    run 3 --k 2 --start "$start" --batch 2 real.fvecs --centroids c3.npy --assign a3.npy ||
        fail "real: $start"
    grep -q '^final objective 0$' out || fail "real: $start leaves one of two kinds out"
done
rm c2.npy a2.npy c3.npy a3.npy
# By cosine: rows of one direction are equal, whatever their length; and predict agrees.
printf '1 1 1 10 20\n1 1 1 20 40\n1 1 1 5 0\n1 1 1 30 60\n1 1 1 200 0\n' >ways.txt
run 1 --k 2 --metric cosine ways.txt --centroids c2.npy --assign a2.npy || fail "--metric cosine"
grep -q '^final objective 0$' out || fail "two directions have two centroids"
run 3 --k 2 --metric cosine ways.txt --centroids c3.npy --assign a3.npy || fail "cosine: 3 ranks"
cmp c2.npy c3.npy && cmp a2.npy a3.npy || fail "cosine: other files at 3 ranks"
run 2 --k 2 --metric cosine ways.txt --centroids c3.npy --assign a3.npy --mapped . || fail "cosine, mapped"
cmp c2.npy c3.npy && cmp a2.npy a3.npy || fail "cosine: other files if mapped"
run 2 predict --metric cosine --centroids c2.npy ways.txt --assign a3.npy || fail "predict by cosine"
cmp a2.npy a3.npy || fail "predict: another assignment, cosine"
echo '1 1 1 0 0' >>ways.txt
rm c2.npy a2.npy c3.npy a3.npy
# Points (500000 + i, 5600000 + j), and (-i, -j): the objective far from 0 must be the same.
signs="000\\200 200\\277 000\\300 100\\300 200\\300 240\\300 300\\300 340\\300" # the bytes of -0 to -7
for row in 0 1 2 3 4 5 6 7 0 2 4 6; do
    i=$(((row * 5 + 1) % 8))
    printf "\\002\\000\\000\\000\\$(printf %o $((32 * i)))\\044\\364\\110\\$(printf %o $((2 * row)))\\346\\252\\112"
done >far.fvecs
for row in 0 1 2 3 4 5 6 7 0 2 4 6; do
    i=$(((row * 5 + 1) % 8))
    printf "\\002\\000\\000\\000\\000\\000\\$(echo "$signs" | cut -d ' ' -f $((i + 1)))"
    printf "\\000\\000\\$(echo "$signs" | cut -d ' ' -f $((row + 1)))"
done >near.fvecs
for points in far near; do
    run 2 --k 3 --iterations 5 $points.fvecs --centroids c2.npy --assign a2.npy || fail "$points"
    sed -n 's/^final objective //p' out >$points
    rm c2.npy a2.npy
done
paste far near | awk '{ way = $1 - $2 } END { exit !($2 > 0 && way * way <= 1e-12 * $2 * $2) }' ||
    fail "objectives far from 0 and near it: $(cat far near)"
rm far near far.fvecs near.fvecs

# Prediction gives the assignment that the clustering gave, at any number of ranks: with centroids of bytes,
# fixed-point ones, and real ones for bytes and for real points.
predict() {
    ranks=$1
    shift
    run "$ranks" predict "$@" || fail "predict $*"
}
run 1 --k 12 points.txt --centroids c.npy --assign a.npy || fail "bytes"
run 1 --k 12 --centroids-as float points.txt --centroids f.npy --assign f_a.npy || fail "float"
run 1 --k 2 real.fvecs --centroids r.npy --assign r_a.npy || fail "real"
predict 3 --centroids c.npy points.txt --assign a2.npy
cmp a.npy a2.npy || fail "predict: another assignment, bytes"
predict 2 --centroids f.npy points.txt --assign a2.npy --distances d2.npy
cmp f_a.npy a2.npy || fail "predict: another assignment, float"
test "$(wc -c <d2.npy)" = $((128 + 600 * 4)) || fail "size of distances"
predict 3 --centroids r.npy --assign a2.npy --distances d2.npy real.fvecs
cmp r_a.npy a2.npy || fail "predict: another assignment, real"
test "$(tail -c +129 d2.npy | tr -d '\000' | wc -c)" = 0 || fail "distances of points on their centroids"
# The nearest of many, for more centroids than points; the first is the nearest one.
predict 2 --centroids points.txt --assign a2.npy --distances d2.npy --nearest 3 c.npy
predict 5 --centroids points.txt --assign a3.npy c.npy
test "$(wc -c <a2.npy)" = $((128 + 12 * 3 * 4)) && test "$(wc -c <d2.npy)" = $((128 + 12 * 3 * 4)) ||
    fail "sizes with --nearest 3"
tail -c +129 a2.npy | od -A n -t d4 -w12 -v | awk '{ print $1 }' >first
tail -c +129 a3.npy | od -A n -t d4 -w4 -v | awk '{ print $1 }' | cmp - first || fail "--nearest: not the nearest"
tail -c +129 d2.npy | od -A n -t f4 -w12 -v | awk '!($1 <= $2 && $2 <= $3) { exit 1 }' || fail "--nearest: order"
# Centroids that no fixed-point number holds make bytes real points.
printf '\002\000\000\000\000\000\200\277\000\000\000\000\002\000\000\000\000\000\200\100\000\000\000\101' >out.fvecs # -1 0, 4 8
printf '1 1 1 0 0\n1 1 1 4 7\n' >two.txt
predict 2 --centroids out.fvecs two.txt --assign a2.npy --distances d2.npy
test "$(tail -c +129 a2.npy | od -A n -t d4)$(tail -c +129 d2.npy | od -A n -t f4 | tr -s ' ')" = \
    "           0           1 1 1" || fail "bytes and centroids that are not"
rm -f c2.npy a2.npy a3.npy d2.npy f.npy f_a.npy r.npy r_a.npy first out.fvecs two.txt

# HDF5: a dataset as points, as a start, and as centroids.
if grep -q "^#define HAVE_HDF5" "$build/build-aux/config.h"; then
    ar p "$source_dir/tests/fuzz/corpus/p.h5.ar" 0 >set.h5 # 6 x 2, float32
    run 3 --k 2 set.h5:/x --start file:set.h5:/x --centroids c2.npy --assign a2.npy && fail "6 rows for k = 2"
    grep -q 'set.h5:/x: has 6 rows of 2 features; the start needs 2 of 2' err || fail "a start of HDF5"
    run 1 --k 2 set.h5:/x --centroids c2.npy --assign a2.npy || fail "a dataset"
    run 5 --k 2 set.h5:/x --centroids c3.npy --assign a3.npy --checkpoint hdf5 || fail "a dataset, 5 ranks"
    cmp c2.npy c3.npy && cmp a2.npy a3.npy || fail "a dataset: other files at 5 ranks"
    run 2 --k 6 set.h5:/x --start file:set.h5:/x --centroids c2.npy --checkpoint hdf5_start || fail "6 of 6"
    grep -q '^final objective 0$' out || fail "a start of HDF5"
    predict 3 --centroids set.h5:/x set.h5:/x --assign a3.npy
    test "$(tail -c +129 a3.npy | od -A n -t d4 -w24 | tr -s ' ')" = " 0 1 2 3 4 5" || fail "centroids of HDF5"
    refuses "--json set.h5: is also read, as POINTS set.h5" --k 2 set.h5:/x --centroids results/c.npy --json set.h5
    refuses "set.h5: is an HDF5 file; name one of its datasets, such as set.h5:/x" \
        --k 2 set.h5 --centroids results/c.npy
    rm -rf c2.npy a2.npy c3.npy a3.npy hdf5 hdf5_start set.h5
fi

# Weights: points of weight 0 to 11, which are the numbers of clusters, are clustered like points that are
# there 0 to 11 times, with the same bits at any number of ranks and threads.
tail -c +129 a.npy | od -A n -t d4 -w4 -v | paste -d ' ' - points.txt |
    awk '{ n = $1; $1 = ""; for (i = 0; i < n; i++) print }' >repeated.txt
for as in bytes float; do
    for start in k-means++ afk-mc2; do
        run 3 --k 9 --centroids-as $as --start $start repeated.txt --centroids c2.npy --assign a2.npy ||
            fail "repeated points: $as, $start"
        grep '^final objective' out >repeated
        for by in "1 2" "5 1"; do
            run ${by% *} --k 9 --centroids-as $as --start $start --weights a.npy points.txt --threads ${by#* } \
                --centroids c3.npy --assign a3.npy || fail "--weights: $as, $start, $by"
            cmp c2.npy c3.npy || fail "weights are not repetitions: $as, $start, $by"
            grep '^final objective' out | cmp - repeated || fail "another weighted objective: $as, $start, $by"
        done
    done
done
predict 3 --centroids c3.npy points.txt --weights a.npy --assign a2.npy
cmp a2.npy a3.npy || fail "predict: another assignment, --weights"
grep -q "; objective $(cut -d ' ' -f 3 repeated)" out || fail "predict: another objective, --weights"
# Fractions: with other starts, in batches, resumed, with points on disk, and by cosine.
sed 's/<i4/<f4/' a.npy | head -c 128 >fractions.npy
for i in $(seq 75); do # 1.5, 0, 0.3, 2.25, 1e-3, 7, 1, 0.125
    printf '\000\000\300\077\000\000\000\000\232\231\231\076\000\000\020\100'
    printf '\157\022\203\072\000\000\340\100\000\000\200\077\000\000\000\076'
done >>fractions.npy
for more in "--start random" "--start k-means||" "--metric cosine" "--batch 100 --mapped ." "--centroids-as float"; do
    # shellcheck disable=SC2086 # several words
    for by in "1 2" "3 1"; do
        run ${by% *} --k 9 $more --weights fractions.npy points.txt --threads ${by#* } --centroids c"${by% *}".npy \
            --assign a"${by% *}".npy || fail "fractions: $more"
    done
    cmp c1.npy c3.npy && cmp a1.npy a3.npy || fail "fractions: $more: other files at 3 ranks"
done
for iterations in 2 10; do
    run 2 --k 9 --centroids-as float --iterations $iterations --weights fractions.npy points.txt --centroids c2.npy \
        --assign a2.npy --checkpoint weighted --every 1 --resume || fail "fractions, resumed"
done
cmp c1.npy c2.npy && cmp a1.npy a2.npy || fail "fractions: other files when resumed"
rm -f c1.npy a1.npy c2.npy a2.npy c3.npy a3.npy repeated repeated.txt

# All errors.
to="--centroids results/c.npy --assign results/a.npy"
{ cat points.txt; echo picture 1 2 3; } >short.txt
sed '599s/ [0-9]*$/ x/' points.txt >word.txt
sed '300s/ [0-9]*$/ 256/' points.txt >large.txt
cut -d ' ' -f 1-22 points.txt >narrow.txt
head -c 200 c.npy >cut.npy
head -c 20 c.npy >head.npy
sed 's/u1/f2/' c.npy >half.npy
sed 's/False/True /' c.npy >fortran.npy
sed 's/(12, 20)/(-2, 20)/' c.npy >negative.npy
printf '\005\000\000\000abcde\004\000\000\000abcde' >ragged.bvecs
refuses "short.txt:601: has 1 features after its 3 ids where the first line has 20" \
    --k 2 short.txt $to
refuses "word.txt:599: feature 20 is 'x'" --k 2 word.txt $to
refuses "large.txt:300: feature 20 is '256'" --k 2 large.txt $to
refuses "points.txt: has 20 features a row where narrow.txt has 19" --k 2 points.txt narrow.txt $to
refuses "cut.npy: truncated" --k 2 cut.npy $to
{ cat c.npy; echo more; } >longer.npy
refuses "longer.npy: is too long" --k 2 longer.npy $to
printf '\000\000\010\002\000\000\000\002\000\000\000\003abcdef' | gzip >points.gz
run 2 --k 2 points.gz --centroids c2.npy --assign a2.npy || fail "points.gz"
rm c2.npy a2.npy
{ cat points.gz; echo more; } >longer.gz
refuses "longer.gz: holds other bytes after its gzipped data" --k 2 longer.gz $to
{ head -c $(($(wc -c <points.gz) - 8)) points.gz; echo checksum; } >damaged.gz
refuses "damaged.gz: incorrect data check" --k 2 damaged.gz $to
refuses "head.npy: is cut off within its header" --k 2 head.npy $to
refuses "half.npy: elements '|f2'" --k 2 half.npy $to
refuses "fortran.npy: in Fortran order" --k 2 fortran.npy $to
refuses "negative.npy: damaged header: a negative length" --k 2 negative.npy $to
refuses "ragged.bvecs: row 1 (counted from 0) has 4 features where row 0 has 5" --k 1 ragged.bvecs $to
refuses "missing.txt: can't be opened" --k 2 points.txt missing.txt $to
head -c 200 a.npy >cut_weights.npy
{ head -c 136 a.npy; printf '\377\377\377\377' && tail -c +141 a.npy; } >negative_weights.npy
{ head -c 300 fractions.npy; printf '\000\000\300\177' && tail -c +305 fractions.npy; } >nan_weights.npy
{ head -c 128 a.npy; head -c 2400 /dev/zero; } >no_weights.npy
refuses "weighted/checkpoint: is of other points, weights or --metric than these" --k 9 --centroids-as float points.txt \
    $to --weights a.npy --checkpoint weighted --resume
refuses "a.npy: has 600 weights, and there are 13 points; a weight for each point is needed" \
    --k 2 real.fvecs $to --weights a.npy
refuses "c.npy: has 20 columns; weights are an array of one dimension" --k 2 points.txt $to --weights c.npy
refuses "cut_weights.npy: truncated" --k 2 points.txt $to --weights cut_weights.npy
refuses "negative_weights.npy, byte 136: row 2 (counted from 0) is -1; weights are finite numbers from 0 on" \
    --k 2 points.txt $to --weights negative_weights.npy
refuses "nan_weights.npy, byte 300: row 43 (counted from 0) is nan; weights" \
    --k 2 points.txt $to --weights nan_weights.npy
refuses "no_weights.npy: all are 0; at least one must be positive" --k 2 points.txt $to --weights no_weights.npy
refuses "points.txt: is not a .npy file" --k 2 points.txt $to --weights points.txt
refuses "--json a.npy: is also read, as --weights a.npy" --k 2 points.txt $to --weights a.npy --json a.npy
refuses "missing.npy: can't be opened" predict points.txt --centroids c.npy --assign results/a.npy \
    --weights missing.npy
counts=2
refuses "--k 0: a number from 1" --k 0 points.txt $to
refuses "--k x: a number from 1" --k x points.txt $to
refuses "--k 601: there are only 600 points" --k 601 points.txt $to
refuses "--k K is missing" points.txt $to
refuses "a file of points is missing" --k 2 $to
refuses "--centroids FILE.npy is missing" --k 2 points.txt --assign results/a.npy
for other in results/c ./results/c results/../results/c; do
    refuses "--centroids results/c and --assign $other name the same file" \
        --k 2 points.txt --centroids results/c --assign $other
done
refuses "--assign results/a.npy and --json ./results/a.npy name the same file" \
    --k 2 points.txt $to --json ./results/a.npy
ln -s points.txt link.txt
ln points.txt hard.txt
mkdir folder
cp points.txt folder/a.txt
cp points.txt kept.txt
for output in points.txt ./points.txt link.txt hard.txt; do
    refuses "--json $output: is also read, as POINTS points.txt" --k 2 points.txt $to --json $output
done
refuses "--json folder/a.txt: is also read, as POINTS folder/a.txt" --k 2 folder $to --json folder/a.txt
refuses "--centroids c.npy: is also read, as --start file: c.npy" \
    --k 12 points.txt --start file:c.npy --centroids c.npy --assign results/a.npy
mkdir ck
echo mine >ck/checkpoint
refuses "--json ./ck/checkpoint: is also read, as --checkpoint ck/checkpoint" \
    --k 2 points.txt $to --checkpoint ck --json ./ck/checkpoint
cmp points.txt kept.txt || fail "points are gone"
rm -r link.txt hard.txt ck
# After a failure an old file is unchanged.
refuses "--k 601: there are only 600 points" --k 601 points.txt $to --json kept.txt
cmp points.txt kept.txt || fail "an old file is touched by a failure"
refuses "option --k needs a value" points.txt $to --k
refuses "--k given twice" --k 2 --k 3 points.txt $to
refuses "--moved 1e308: a number from 0 to 1 " --k 2 --moved 1e308 points.txt $to
refuses "--gain 1.5: a number from 0 to 1 " --k 2 --gain 1.5 points.txt $to
refuses "--seconds 1e300: a number from 0 to 1e+09 " --k 2 --seconds 1e300 points.txt $to
refuses "unknown option --clusters" --clusters 2 points.txt $to
refuses "--iterations -1: a number" --k 2 --iterations -1 points.txt $to
refuses "--threads 0: a number" --k 2 --threads 0 points.txt $to
refuses "--tolerance nan: a number" --k 2 --tolerance nan points.txt $to
refuses "--seed -1: a number" --k 2 --seed -1 points.txt $to
refuses "nowhere/c.npy: can't be written: directory nowhere: No such file" \
    --k 2 points.txt --centroids nowhere/c.npy --assign results/a.npy
refuses "nowhere/j: can't be written" --k 2 points.txt $to --json nowhere/j
refuses "--centroids c.npy: is also read, as POINTS c.npy" --k 2 c.npy --centroids c.npy \
    --assign results/a.npy
refuses "/dev/full: can't be written" --k 2 points.txt --centroids results/c.npy --assign /dev/full
refuses "nonsense" --k 2 --bcast nonsense points.txt $to
refuses "nonsense" --k 2 --aggregate nonsense points.txt $to
refuses "--resume and --every need --checkpoint DIR" --k 2 points.txt $to --resume
refuses "nowhere/ck: can't be made: No such file" --k 2 points.txt $to --checkpoint nowhere/ck
refuses "c.npy: is no directory for checkpoints" --k 2 points.txt $to --checkpoint c.npy --resume
refuses "--batch 11: at least --k, which is 12, is needed" --k 12 --batch 11 points.txt $to
refuses "--quality-every: needs --batch" --k 2 --quality-every 2 points.txt $to
refuses "--checkpoint: batches have none; leave out --batch" --k 2 --batch 9 points.txt $to --checkpoint x
refuses "--every 0: a number from 1" --k 2 points.txt $to --checkpoint x --every 0
refuses "--every-seconds -1: a number from 0 " --k 2 points.txt $to --checkpoint x --every-seconds -1
refuses "--gain x: a number from 0 " --k 2 --gain x points.txt $to
to_assign="--assign results/a.npy"
refuses "--centroids FILE is missing" predict points.txt $to_assign
refuses "--assign FILE.npy is missing" predict points.txt --centroids c.npy
refuses "--centroids c.npy: has 20 features a row, the points have 2" \
    predict real.fvecs --centroids c.npy $to_assign
refuses "--nearest 13: there are only 12 centroids" predict points.txt --centroids c.npy --nearest 13 $to_assign
refuses "missing.npy: can't be opened" predict points.txt --centroids missing.npy $to_assign
refuses "--assign ./points.txt: is also read, as POINTS points.txt" \
    predict points.txt --centroids c.npy --assign ./points.txt
refuses "--distances c.npy: is also read, as --centroids c.npy" \
    predict points.txt --centroids c.npy $to_assign --distances c.npy
refuses "row 5 (counted from 0) is 0 and has no direction, as cosine needs; leave it out" \
    --k 2 --metric cosine ways.txt $to
refuses "--metric angle: allowed: euclidean, cosine" --k 2 --metric angle points.txt $to
refuses "--start kmeans++: random, k-means++," --k 2 --start kmeans++ points.txt $to
refuses "afk-mc2 has no parameter \"rounds\"" --k 2 --start afk-mc2:rounds=2 points.txt $to
refuses "chain=N is needed, N from 1" --k 2 --start afk-mc2:chain=0 points.txt $to
refuses "--centroids-as ints: allowed: auto, bytes, float" --k 2 --centroids-as ints points.txt $to
printf '\024\000\000\000%080d' 0 | tr 0 '\107' >large.fvecs
refuses "large.fvecs: has a feature of 51015.3; those of bytes are from 0 to 255" \
    --k 1 --centroids-as float --start file:large.fvecs points.txt $to
refuses "file:PATH needs a path" --k 2 --start file: points.txt $to
refuses "missing: can't be opened" --k 2 --start file:missing points.txt $to
refuses "c.npy: has 12 rows of 20 features; the start needs 2 of 20" \
    --k 2 --start file:c.npy points.txt $to
refuses "nowhere: no place for mapped points: No such file" --k 2 points.txt $to --mapped nowhere
refuses "nowhere: no place for mapped points: No such file" --k 2 --metric cosine c.npy $to --mapped nowhere
printf '1 1 1 0 0\n1 1 1 4 7\n' >two.txt
printf '\002\000\000\000\000\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\000\000\300\077' >half.fvecs # 0 0, 0 1.5
refuses "half.fvecs: row 1, column 1 (counted from 0) is 1.5; centroids of bytes are whole numbers" \
    --k 2 --start file:half.fvecs two.txt $to
# Output that is lost is an error.
for command in "--k 2 --centroids lost.npy" "predict --centroids c.npy --assign lost.npy"; do
    # shellcheck disable=SC2086 # several words
    $limited "$mpirun" -n 2 sh -c 'exec "$0" "$@" >/dev/full' "$program" $command points.txt 2>err && fail "$command: lost output"
    grep -q "^coll-kmeans: the output can.t be written" err || fail "$command: lost output: $(cat err)"
done
rm -f lost.npy
COLL_BCAST=nonsense
export COLL_BCAST
refuses COLL_BCAST --k 2 points.txt $to
unset COLL_BCAST
COLL_KMEANS_KERNEL=nonsense
export COLL_KMEANS_KERNEL
refuses nonsense --k 2 points.txt $to
unset COLL_KMEANS_KERNEL

# --resume creates the directory, starts from the beginning, and then continues.
for note in 'no checkpoint yet: starts from the beginning' 'resumed after iteration 2'; do
    run 2 --k 12 points.txt --iterations 2 --every 1 --centroids c2.npy --assign a2.npy \
        --checkpoint state --resume --json /dev/null || fail "--resume: $note"
    grep -q "^coll-kmeans: $note" err || fail "--resume: no \"$note\""
done
test -c /dev/null || fail "/dev/null is gone"

# A full disk, if this user may mount one: neither of the two files may be left.
mkdir "$disk"
if mount -t tmpfs -o size=8k tmpfs "$disk" 2>/dev/null; then
    awk '{ for (i = 0; i < 10; i++) print }' points.txt >many.txt
    run 3 --k 2 many.txt --centroids disk/c.npy --assign disk/a.npy && fail "full disk"
    test "$(grep -c '^coll-kmeans: .*disk/a.npy: can.t be written: No space left' err)" = 1 ||
        fail "full disk"
    test -z "$(ls -A disk)" || fail "files are left on a full disk"
    # If a checkpoint does not fit on the disk, a line reports it and the run continues to its end.
    run 3 --k 12 many.txt --centroids c2.npy --assign a2.npy --checkpoint disk/ck --every 1 ||
        fail "a full disk for checkpoints"
    grep -q '^coll-kmeans: disk/ck/checkpoint: can.t be written: No space left.*goes on' err ||
        fail "a full disk for checkpoints"
    test -z "$(ls -A disk/ck)" || fail "a part of a checkpoint is left on a full disk"
    counts=2
    refuses "disk: no place for" --k 2 many.txt $to --mapped disk
else
    echo "skipped: a full disk, which we may not make"
fi
echo "all as it should be"
