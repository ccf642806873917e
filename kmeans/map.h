/* The map phase: every pending point to its nearest centroid, in rounds that all ranks share. */
#ifndef COLL_KMEANS_MAP_H
#define COLL_KMEANS_MAP_H

#include "kmeans/assign/sketch.h"
#include "kmeans/checkpoint.h"

/*
 * Called on all ranks after each round, DONE (0 to 1) of this rank's points being assigned. It may
 * communicate, and set the problem.
 */
typedef struct km_rounds {
    void (*after)(double done, void *context, app_problem *problem);
    void *context;
} km_rounds;

/* What an assignment came to, over all ranks: see km_step. */
typedef struct km_map_sums {
    uint64_t objective, moved;
} km_map_sums;

/*
 * Assigns the pending points of STATE to its centroids, the same on all ranks, and sets the squared
 * distance of every point. A round takes some seconds; STATE is whole between rounds. SKETCH, if
 * not NULL, makes it faster, and KEPT, if not NULL, too: this rank's sketches by SKETCH.
 * Collective, also for ranks that have a problem already; on false all ranks have the same problem.
 */
bool km_map(const km_points *points, const km_settings *settings, const km_sketch *sketch,
            const km_sketches *kept, km_state *state, uint32_t *distance2, const km_rounds *rounds,
            MPI_Comm comm, km_map_sums *sums, app_problem *problem);

#endif
