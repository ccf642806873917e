/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/profile/copies.h"

#include "app/clocks.h"
#include "app/stats.h"

#include <stdlib.h>
#include <string.h>

const double copies_size[COPIES_SIZES] = {64,       256,      1 << 10,   4 << 10,
                                          16 << 10, 64 << 10, 256 << 10, 1 << 20};

enum {
    FIELD = 96 << 20, /* bytes; larger than caches */
    SAMPLES = 15,
    ROUNDS = 4
};

/* A sample copies at least this much, so that the cost of the clock does not matter; bytes. */
static const size_t BATCH = 1 << 20;

/* Two fields of FIELD bytes. */
typedef struct fields {
    char *from, *to;
    size_t at; /* offset of the next copy, on a side that must be in memory */
} fields;

/*
 * Copies SIZE bytes COUNT times and returns the seconds of one copy. A side that must be in memory
 * uses the next bytes of its field each time; a side that must be in the cache always uses the
 * first bytes.
 */
static double time_copies(fields *f, COLL_Copy copy, size_t size, size_t count) {
    bool from_memory = copy == COLL_COPY_MEMORY_TO_MEMORY,
         to_memory = copy != COLL_COPY_CACHE_TO_CACHE;
    double start = app_seconds();
    for (size_t i = 0; i < count; i++) {
        if (f->at + size > FIELD)
            f->at = 0;
        memcpy(f->to + (to_memory ? f->at : 0), f->from + (from_memory ? f->at : 0), size);
        f->at += size;
    }
    return (app_seconds() - start) / (double)count;
}

/* Returns the minimum over all rounds of the median time of a copy, in seconds. */
static double least_median(fields *f, COLL_Copy copy, size_t size) {
    size_t count = size < BATCH ? BATCH / size : 1;
    double least = -1, samples[SAMPLES];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SAMPLES; i++)
            samples[i] = time_copies(f, copy, size, count);
        double median = app_stats_median(samples, SAMPLES);
        least = least < 0 || median < least ? median : least;
    }
    return least;
}

bool copies_measure(double seconds[COLL_COPIES][COPIES_SIZES]) {
    fields f = {.from = malloc(FIELD), .to = malloc(FIELD)};
    bool good = f.from && f.to;
    if (good) { /* so that no copy is the first to touch a page */
        memset(f.from, 1, FIELD);
        memset(f.to, 1, FIELD);
    }
    for (int copy = 0; good && copy < COLL_COPIES; copy++)
        for (int i = 0; i < COPIES_SIZES; i++)
            seconds[copy][i] = least_median(&f, (COLL_Copy)copy, (size_t)copies_size[i]);
    free(f.from);
    free(f.to);
    return good;
}
