/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * K-means over MPI (Lloyd's algorithm). If features are uint8, centroids are uint8 or fixed-point
 * (fixed_point.h), and every point gets exactly its nearest centroid. If features are float32, so
 * are centroids, and distances are computed in double precision (quantised.h, real.h). Every
 * iteration broadcasts the centroids, assigns every point to the nearest centroid (map), aggregates
 * the sums of the clusters in three stages and divides them at rank 0. Sums are integers, so the
 * result has the same bits for any number of ranks and threads. Source: Zhang, Qiu, Lee and
 * Crandall, section II and table I.
 */
#ifndef COLL_KMEANS_KMEANS_H
#define COLL_KMEANS_KMEANS_H

#include "kmeans/assign/kernel.h"
#include "kmeans/init/init.h"
#include "kmeans/points/points.h"

#include <stdint.h>

typedef struct km_settings {
    uint64_t k;
    km_init start; /* how to choose the initial centroids; all 0: at random */
    uint64_t seed; /* seed of that choice */
    int threads;   /* threads of this rank */
    const km_kernel *kernel;
    int iterations;      /* the most iterations; may be 0 */
    double tolerance;    /* stop when no centroid moves farther than this; < 0: no such rule */
    double total_shift2; /* ... when the squared distances that the centroids move add up to no more
                            than this; 0: no such rule */
    double moved;   /* ... when no more than this share of the points moves; < 0: no such rule */
    double gain;    /* ... when the objective falls by no more than this share; < 0: no such rule */
    double seconds; /* start no iteration after this many seconds; < 0: no limit */
    const char *checkpoint; /* directory for checkpoints, or NULL */
    bool resume;            /* continue from the checkpoint there, if any */
    int every;              /* iterations between checkpoints; 0: by time alone */
    double every_seconds;   /* seconds between checkpoints, also within an iteration; < 0: no
                               checkpoints by time */
    bool whole; /* compare every point with every centroid in full; gives the same result */
} km_settings;

typedef enum km_phase {
    KM_BROADCAST,
    KM_MAP,
    KM_LOCAL,
    KM_GROUP_BY,
    KM_GATHER,
    KM_TOTAL,
    KM_PHASES
} km_phase;

/* The figures of one iteration; complete at rank 0. */
typedef struct km_step {
    int64_t iteration;  /* from 1 */
    uint64_t objective; /* weighted sum of squared distances to the broadcast centroids, in the form
                           that km_points_objective takes */
    uint64_t previous;  /* the objective of the iteration before; 0 in the first */
    uint64_t moved;     /* points whose cluster changed; all in the first iteration */
    double imbalance;   /* k * sum of squared counts / n^2: 1 for clusters of equal size; with
                           weights, of equal weight */
    uint64_t empty;     /* clusters without a point, or without weight */
    uint64_t refilled;  /* empty clusters that got a new centroid */
    double shift;       /* the largest distance that a centroid moved in this update */
    double
        seconds[KM_PHASES]; /* of the slowest rank in each phase; KM_TOTAL is the whole iteration */
} km_step;

typedef enum km_stop {
    KM_STOP_UNMOVED,   /* no point moved, or points moved but no centroid did */
    KM_STOP_TOLERANCE, /* no centroid moved farther than the tolerance, or TOTAL_SHIFT2 was not
                          exceeded */
    KM_STOP_MOVED,     /* few points moved */
    KM_STOP_GAIN,      /* the objective fell by little */
    KM_STOP_SECONDS,   /* the time limit was reached */
    KM_STOP_ITERATIONS
} km_stop;

/* Callbacks, called at rank 0. */
typedef struct km_observer {
    /*
     * Called by km_cluster_batches (batches.h) before the iterations on a batch of POINTS points,
     * and before the iterations on all points.
     */
    void (*batch)(uint64_t points, void *context);
    /*
     * Called after every QUALITY_EVERY-th batch (batches.h) with the objective over all points, in
     * the form of the objective in km_step.
     */
    void (*quality)(uint64_t objective, void *context);
    /* Called after each iteration. */
    void (*step)(const km_step *step, void *context);
    /*
     * Called now and then in the map phase of iteration ITERATION; DONE is the finished share (0 to
     * 1) of rank 0's points. The final assignment counts as one more iteration.
     */
    void (*progress)(int64_t iteration, double done, void *context);
    /* Called with a line of information that doesn't end the run. */
    void (*note)(const char *text, void *context);
    void *context;
} km_observer;

typedef struct km_result {
    uint8_t *centroids;   /* k rows, on all ranks */
    uint32_t *nearest;    /* nearest of these centroids for each of this rank's points */
    uint32_t *distance2;  /* squared distance of each of these points from its nearest centroid, in
                             the form that km_points_distance takes */
    uint64_t objective;   /* objective of this result, as in km_step; on all ranks */
    int64_t iterations;   /* iterations done */
    double start_seconds; /* s that this rank took for the first centroids, or to resume */
    double final_seconds; /* ... and for the final assignment */
    km_stop stop;
} km_result;

/*
 * Clusters POINTS. Collective; on false all ranks have the same problem. The caller frees RESULT
 * with km_result_free. With 0 iterations, this only assigns the points to the first centroids; if
 * these centroids are given (km_init_is_given), there may be more centroids than points.
 *
 * If a checkpoint can't be written, the observer gets a note, the previous checkpoint stays, and
 * the run continues. A run that is resumed, with any number of ranks and threads, ends with the
 * same bits as if it had never been interrupted. An existing checkpoint is a problem unless
 * resuming is asked for, so that no checkpoint is overwritten by mistake.
 *
 * With points of length 1 (km_points_use_cosine) the centroids are means scaled to length 1, so
 * this is spherical K-means.
 *
 * The objective never rises from one iteration to the next (km_update_centroids says why), except
 * that rounding may raise it slightly for real features or distances.
 */
bool km_cluster(const km_points *points, const km_settings *settings, const km_observer *observer,
                MPI_Comm comm, km_result *result, app_problem *problem);

void km_result_free(km_result *result);

#endif
