/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses distinct rows: the first k of a random permutation. No work, for any k. */
#include "config.h"

#include "kmeans/init/init.h"
#include "kmeans/points/random.h"
#include "kmeans/points/rows.h"

#include <stdlib.h>

static bool choose_random(const km_seeding *seeding, uint8_t *centroids, app_problem *problem) {
    const km_points *points = seeding->points;
    km_place *places = malloc(seeding->k * sizeof *places);
    if (!places)
        app_refuse(problem, "out of memory");
    bool good = app_agree(problem, seeding->comm);
    for (size_t j = 0; good && j < seeding->k; j++)
        places[j] = (km_place){km_sample_row(seeding->seed, points->total, j), j};
    good = good && km_place_rows(points, places, seeding->k, centroids, seeding->comm, problem);
    free(places);
    return good;
}

const km_init_method km_init_random = {"random", choose_random};
