/* Where a clustering stands: all that is needed to go on, besides the points. */
#ifndef COLL_KMEANS_CLUSTERING_STATE_H
#define COLL_KMEANS_CLUSTERING_STATE_H

#include "kmeans/kmeans.h"

/*
 * In nearest, a point that has still to be assigned in the iteration at hand; the other bits are
 * its cluster in the iteration before, or, where there was none, the rest of KM_NO_CLUSTER.
 */
#define KM_PENDING (UINT32_C(1) << 31)
#define KM_NO_CLUSTER UINT32_MAX

/* STEP was the last iteration, of number 0 where there was none; the next one is on its way. */
typedef struct km_state {
    km_step step;
    uint64_t moved;     /* of the points that this rank has assigned since then, how many moved */
    uint8_t *centroids; /* k rows; those of rank 0 count */
    uint32_t *nearest;  /* of each of this rank's points */
} km_state;

#endif
