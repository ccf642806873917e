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
 * has been assigned. The callback may communicate, and report a problem.
 */
typedef struct km_rounds {
    void (*after)(double done, void *context, app_problem *problem);
    void *context;
} km_rounds;

/* The result of an assignment over all ranks: see km_step. */
typedef struct km_map_sums {
    uint64_t objective, moved;
} km_map_sums;

/* The input of km_map. */
typedef struct km_map_args {
    const km_points *points; /* this rank's */
    const km_settings *settings;
    const km_projection *projection; /* turns pruning on; or NULL */
    const km_sketch_cache *kept;     /* caches the points' sketches; or NULL */
    km_group_bounds *bounds;         /* of the points if they are float32; or NULL */
    km_code_cache *codes;            /* of the points if they are float32; or NULL */
    km_state *state;                 /* with centroids that are the same on all ranks */
    uint32_t *distance2; /* squared distance of each point from its centroid: on entry in the last
                            assignment, on return in this one */
    const km_rounds *rounds;
    MPI_Comm comm;
} km_map_args;

/*
 * Assigns the pending points of the state to its centroids, and sets the squared distance of every
 * point. A round takes some seconds; between rounds the state is consistent. Collective, also for
 * ranks that already have a problem; on false all ranks have the same problem.
 */
bool km_map(const km_map_args *in, km_map_sums *sums, app_problem *problem);

#endif
