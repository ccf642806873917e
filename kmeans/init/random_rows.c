/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses distinct rows: the first k of a random permutation (km_sample_row). If points have
 * weights, rows are drawn in proportion to these until there are k distinct ones. If that doesn't
 * succeed within some rounds, because few rows have almost all of the weight, the missing rows are
 * from the permutation.
 */
#include "config.h"

#include "kmeans/init/draw.h"
#include "kmeans/init/init.h"
#include "kmeans/points/random.h"
#include "kmeans/points/rows.h"

#include <stdlib.h>

enum { STREAM = 8, ROUNDS = 64 };

static int compare_numbers(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Sorts COUNT numbers, drops repeated ones, and returns how many are left. */
static size_t sort_distinct(uint64_t *numbers, size_t count) {
    size_t distinct = 0;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (!distinct || numbers[distinct - 1] != numbers[i])
            numbers[distinct++] = numbers[i];
    return distinct;
}

/* Chooses k distinct ROWS by weight. PLACES is scratch memory for k numbers. */
static bool draw_by_weight(const km_seeding *seeding, uint64_t *rows, uint64_t *places,
                           app_problem *problem) {
    const km_points *points = seeding->points;
    const size_t k = seeding->k;
    uint64_t drawn = 0;
    size_t found = 0;
    for (int round = 0; round < ROUNDS && found < k; round++) {
        const size_t missing = k - found;
        for (size_t i = 0; i < missing; i++)
            places[i] = km_random_below(seeding->seed, STREAM, drawn++, points->weight);
        qsort(places, missing, sizeof *places, compare_numbers);
        if (!km_draw_rows(points, points->weights, places, missing, rows + found, seeding->comm,
                          problem))
            return false;
        found = sort_distinct(rows, k);
    }
    for (uint64_t next = 0; found < k; found = sort_distinct(rows, k))
        for (size_t i = found; i < k; i++)
            rows[i] = km_sample_row(seeding->seed, points->total, next++);
    return true;
}

static bool choose_random(const km_seeding *seeding, uint8_t *centroids, app_problem *problem) {
    const km_points *points = seeding->points;
    const size_t k = seeding->k;
    km_place *places = malloc(k * sizeof *places);
    uint64_t *rows = malloc(2 * k * sizeof *rows);
    if (!places || !rows)
        app_refuse(problem, "out of memory");
    bool good = app_agree(problem, seeding->comm);
    if (good && points->weights)
        good = draw_by_weight(seeding, rows, rows + k, problem);
    for (size_t j = 0; good && j < k; j++)
        places[j] = (km_place){
            points->weights ? rows[j] : km_sample_row(seeding->seed, points->total, j), j};
    good = good && km_place_rows(points, places, k, centroids, seeding->comm, problem);
    free(rows);
    free(places);
    return good;
}

const km_init_method km_init_random = {"random", choose_random};
