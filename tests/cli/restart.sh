#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Kills coll-kmeans at random times (a rank or mpirun with kill -9; or a full disk) and resumes it with
# other numbers of ranks and threads: the final files must equal those of an undisturbed run.
# COLL_TEST_KILLS is the number of kills (default 6), COLL_TEST_SEED the seed of their times.
set -u
. "$(dirname "$0")/../support/programs.sh"
program=$build/coll-kmeans
kills=${COLL_TEST_KILLS:-6}
RANDOM=${COLL_TEST_SEED:-1}
disk=$work/disk
running=
# shellcheck disable=SC2154
trap '[ -n "$running" ] && kill -9 "$running"; umount "$disk" 2>/dev/null; rm -rf "$work"' EXIT
# This kernel is slow enough for kills during the run.
export COLL_KMEANS_KERNEL=scalar

# 20,000 points of 32 features, as .npy: random bytes around 400 centres.
awk 'BEGIN {
    srand(7)
    header = sprintf("{\047descr\047: \047|u1\047, \047fortran_order\047: False, \047shape\047: (20000, 32), }")
    printf "\\223NUMPY\\001\\000\\166\\000%-117s\\n", header
    for (i = 0; i < 400 * 32; i++) middle[i] = int(rand() * 200)
    for (row = 0; row < 20000; row++) {
        group = int(rand() * 400)
        for (i = 0; i < 32; i++) printf "\\%03o", middle[group * 32 + i] + int(rand() * 56)
    }
}' >escaped
# shellcheck disable=SC2059
printf "$(cat escaped)" >points.npy
rm escaped

arguments="--k 600 --iterations 12 points.npy --centroids c.npy --assign a.npy"
# shellcheck disable=SC2086
"$mpirun" -n 2 "$program" $arguments >out 2>err </dev/null || fail "undisturbed"
seconds=$(sed -n 's/^[0-9]* iterations in \([0-9.]*\) s.*/\1/p' out)
mv c.npy c.expected
mv a.npy a.expected

# Checkpoints go to a disk that can be filled, if this user may mount one. It holds two checkpoints.
checkpoints=$disk/checkpoints
mkdir "$disk"
full=
if mount -t tmpfs -o size=260k tmpfs "$disk" 2>/dev/null; then
    full=$disk/full
else
    echo "skipped: a full disk, which we may not make"
fi
mkdir "$checkpoints"

# resume RANKS: resumes in the background, after the previous run has released the directory.
resume() {
    for _ in $(seq 600); do
        flock -n "$checkpoints" true && break
        sleep 0.1
    done
    # shellcheck disable=SC2086
    "$mpirun" -n "$1" "$program" $arguments --threads $((RANDOM % 2 + 1)) \
        --checkpoint "$checkpoints" --every-seconds 0 --resume >out 2>err </dev/null &
    running=$!
}

# Sometimes fills the disk, so that from now on no further checkpoint is written.
fill_disk() {
    [ -z "$full" ] || rm -f "$full"
    if [ -n "$full" ] && [ $((RANDOM % 4)) = 0 ]; then
        head -c 120K /dev/zero >"$full"
        fills=$((fills + 1))
    fi
}

# Prints a process to kill: mpirun or one of its children, the ranks.
victim() {
    if [ $((RANDOM % 2)) = 0 ]; then
        echo "$running"
    else
        pgrep -P "$running" -f coll-kmeans | shuf -n 1 --random-source=points.npy
    fi
}

done=0
finished=0
fills=0
while [ "$done" -lt "$kills" ]; do
    fill_disk
    resume $((RANDOM % 4 + 1))
    # The time is between the start and a third of a whole run.
    sleep "$(awk -v s="$seconds" -v r=$RANDOM 'BEGIN { print 0.2 + (0.5 + s / 3) * r / 32768 }')"
    process=$(victim)
    if [ -n "$process" ] && kill -9 "$process" 2>/dev/null; then
        done=$((done + 1))
    fi
    wait "$running" 2>/dev/null
    status=$?
    running=
    if [ $status = 0 ]; then
        finished=$((finished + 1))
        cmp c.npy c.expected && cmp a.npy a.expected || fail "other files after $done kills"
        rm -r "$checkpoints" c.npy a.npy
        mkdir "$checkpoints"
    elif grep '^coll-kmeans: ' err | grep -v -e 'resumed after' -e 'no checkpoint yet' \
        -e 'No space left on device; goes on'; then
        fail "the checkpoint was not good after $done kills"
    elif [ -e c.npy ] && ! { cmp c.npy c.expected && cmp a.npy a.expected; }; then
        fail "files that are not whole after $done kills"
    fi
done
[ -z "$full" ] || rm -f "$full"
resume 3
wait "$running" || fail "the last one, after $done kills"
running=
cmp c.npy c.expected && cmp a.npy a.expected || fail "other files after $done kills"
echo "$done kills, the disk full $fills times, $((finished + 1)) runs to the end: the same bits"
