/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The map phase: assigns every pending point to its nearest centroid, in rounds that all ranks make
 * together.
 */
#ifndef COLL_KMEANS_MAP_H
#define COLL_KMEANS_MAP_H

#include "kmeans/assign/code_cache.h"
#include "kmeans/assign/group_bounds.h"
#include "kmeans/assign/projection.h"
#include "kmeans/checkpoint.h"

/*
 * A callback on all ranks after each round; DONE (0 to 1) is the share of this rank's points that
 * has been assigned. It may communicate, and report a problem.
 */
typedef struct km_rounds {
    void (*after)(double done, void *context, app_problem *problem);
    void *context;
} km_rounds;

/* The result of an assignment over all ranks: see km_step. */
typedef struct km_map_sums {
    uint64_t objective, moved;
} km_map_sums;

/*
 * Assigns the pending points of STATE to its centroids, the same on all ranks, and sets the squared
 * distance of every point. A round takes some seconds; between rounds STATE is consistent.
 * PROJECTION, if not NULL, turns pruning on; KEPT, if not NULL, caches this rank's sketches. BOUNDS
 * and CODES are those of this rank's points if they are float32, or NULL.
 * Collective, also for ranks that already have a problem; on false all ranks have the same problem.
 */
bool km_map(const km_points *points, const km_settings *settings, const km_projection *projection,
            const km_sketch_cache *kept, km_group_bounds *bounds, km_code_cache *codes,
            km_state *state, uint32_t *distance2, const km_rounds *rounds, MPI_Comm comm,
            km_map_sums *sums, app_problem *problem);

#endif
