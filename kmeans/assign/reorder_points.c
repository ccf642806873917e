/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/reorder_points.h"

#include "kmeans/points/memory.h"

#include <errno.h>

/* Points are sorted by region (REGION consecutive positions), then by distance, in LEVELS steps. */
enum { REGION = 48, LEVELS = 16 };

typedef struct sort_keys {
    const uint32_t *positions;
    size_t k;
    uint32_t least; /* the smallest distance */
    double range;
} sort_keys;

static sort_keys make_sort_keys(const uint32_t *positions, size_t k, const uint32_t *distance,
                                size_t n) {
    uint32_t least = UINT32_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = distance[i] < least ? distance[i] : least;
        most = distance[i] > most ? distance[i] : most;
    }
    return (sort_keys){positions, k, least, (double)most - least + 1};
}

static size_t bucket_of(const sort_keys *by, uint32_t guess, uint32_t distance) {
    size_t place = guess < by->k ? by->positions[guess] : by->k - 1;
    size_t level = (size_t)((double)(distance - by->least) / by->range * LEVELS);
    return place / REGION * LEVELS + level;
}

/* A counting sort, which is stable. */
int km_reorder_points(const uint32_t *positions, size_t k, size_t n, size_t *which, uint32_t *guess,
                      const uint32_t *distance) {
    const sort_keys by = make_sort_keys(positions, k, distance, n);
    size_t count = km_quotient_up(k, REGION) * LEVELS;
    uint32_t *guesses = km_allocate(n + 1, sizeof *guesses);
    size_t *numbers = km_allocate(n + 1, sizeof *numbers);
    size_t *starts = calloc(count + 1, sizeof *starts);
    int error = guesses && numbers && starts ? 0 : ENOMEM;
    for (size_t i = 0; !error && i < n; i++)
        starts[bucket_of(&by, guess[i], distance[i]) + 1]++;
    for (size_t j = 0; !error && j < count; j++)
        starts[j + 1] += starts[j];
    for (size_t i = 0; !error && i < n; i++) {
        size_t at = starts[bucket_of(&by, guess[i], distance[i])]++;
        numbers[at] = which[i];
        guesses[at] = guess[i];
    }
    if (!error) {
        memcpy(which, numbers, n * sizeof *which);
        memcpy(guess, guesses, n * sizeof *guess);
    }
    free(starts);
    free(numbers);
    free(guesses);
    return error;
}
