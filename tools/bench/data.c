/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/bench/data.h"

#include <string.h>

/* Returns the byte at PLACE of the data of SEED. */
static unsigned char pattern_byte(size_t place, unsigned seed) {
    return (unsigned char)((place * 2654435761u + seed * 40503u) >> 13);
}

static void fill_with(unsigned char *bytes, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = pattern_byte(i, seed);
}

static bool is_filled_with(const unsigned char *bytes, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != pattern_byte(i, seed))
            return false;
    return true;
}

/* The buffer's content before data arrive. */
enum { NOTHING = 0x5a };

static void clear_output(const operation_run *run) {
    size_t element = operation_rounded(run->operation, 1);
    memset(run->out.at, NOTHING, (size_t)run->out.count * element);
}

/* --- One piece --- */

void data_fill_one(const operation_run *run) {
    if (run->rank == run->root)
        fill_with(run->out.at, run->bytes, run->seed);
    else
        clear_output(run);
}

bool data_verify_one(const operation_run *run) {
    return is_filled_with(run->out.at, run->bytes, run->seed);
}

/* --- Blocks --- */

/*
 * Returns the seed of the block from one rank to another; a rank with a single block sends it to
 * all.
 */
static unsigned seed_of(const operation_run *run, int from, int to) {
    unsigned differs = run->operation->in == OPERATION_BLOCKS ? (unsigned)to : 0;
    return run->seed + (unsigned)from * 61 + differs;
}

void data_fill_blocks(const operation_run *run) {
    const operation_part *in = &run->in;
    clear_output(run);
    if (run->operation->in == OPERATION_ONE)
        fill_with(in->at, (size_t)in->count, seed_of(run, run->rank, 0));
    for (int to = 0; to < run->ranks && in->count && run->operation->in == OPERATION_BLOCKS; to++)
        fill_with(in->at + in->places[to], (size_t)in->sizes[to], seed_of(run, run->rank, to));
}

bool data_verify_blocks(const operation_run *run) {
    const operation_part *out = &run->out;
    if (run->operation->out == OPERATION_ONE)
        return is_filled_with(out->at, (size_t)out->count, seed_of(run, run->root, run->rank));
    for (int from = 0; from < run->ranks && out->count; from++)
        if (!is_filled_with(out->at + out->places[from], (size_t)out->sizes[from],
                            seed_of(run, from, run->rank)))
            return false;
    return true;
}

/* --- Sums --- */

/*
 * Rank R contributes a + b (R mod CYCLE), where a and b depend on the place. Floats add these small
 * whole numbers exactly in any order, and their sums are computed without a loop over the ranks.
 */
enum { CYCLE = 16 };

static float sum_of(int ranks, size_t place, unsigned seed) {
    int rest = ranks % CYCLE, cycles = ranks / CYCLE;
    int factor = cycles * (CYCLE * (CYCLE - 1) / 2) + rest * (rest - 1) / 2;
    return (float)(ranks * pattern_byte(place, seed) +
                   factor * (pattern_byte(place, seed + 1) % CYCLE));
}

void data_fill_sums(const operation_run *run) {
    float *numbers = (float *)run->in.at;
    clear_output(run);
    for (size_t i = 0; i < (size_t)run->in.count; i++)
        numbers[i] = sum_of(run->rank + 1, i, run->seed) - sum_of(run->rank, i, run->seed);
}

static bool is_sum_of(const operation_run *run, int ranks) {
    const float *numbers = (const float *)run->out.at;
    size_t first = run->operation->in == OPERATION_BLOCKS ? (size_t)run->in.places[run->rank] : 0;
    for (size_t i = 0; i < (size_t)run->out.count; i++)
        if (numbers[i] != sum_of(ranks, first + i, run->seed))
            return false;
    return true;
}

bool data_verify_sum(const operation_run *run) {
    return is_sum_of(run, run->ranks);
}

bool data_verify_scan(const operation_run *run) {
    return is_sum_of(run, run->rank + 1);
}

/* MPI doesn't define rank 0's result. */
bool data_verify_exscan(const operation_run *run) {
    return run->rank == 0 || is_sum_of(run, run->rank);
}

/* --- Nothing --- */

void data_fill_nothing(const operation_run *run) {
    (void)run;
}

bool data_verify_nothing(const operation_run *run) {
    (void)run;
    return true;
}
