/*
 * K-means over MPI (Lloyd's algorithm) on features and centroids of uint8, exact (or of float32,
 * with distances that are rounded: assign_openblas.c, real.h): every iteration broadcasts the
 * centroids, assigns every point to the nearest (map), aggregates the sums of the clusters in three
 * stages and divides them at rank 0. Integers throughout, so that the result is the same bits for
 * any number of ranks and threads. Source: Zhang, Qiu et al., "High Performance Clustering of
 * Social Images in a Map-Collective Programming Model", section II, table I.
 */
#ifndef COLL_KMEANS_KMEANS_H
#define COLL_KMEANS_KMEANS_H

#include "kmeans/assign/kernel.h"
#include "kmeans/points/points.h"
#include "kmeans/start/start.h"

#include <stdint.h>

typedef struct km_settings {
    uint64_t k;
    km_start start; /* how the initial centroids are chosen; of zeros: at random */
    uint64_t seed;  /* for that */
    int threads;    /* of this rank */
    const km_kernel *kernel;
    int iterations;         /* at most, 0 for none */
    double tolerance;       /* stop when no centroid moves farther than this; below 0: no stop */
    double moved;           /* ... when no more than this share of the points moves; the same */
    double gain;            /* ... when the objective falls by no more than this share; the same */
    double seconds;         /* start no iteration after so many; the same */
    const char *checkpoint; /* directory for checkpoints, or NULL */
    bool resume;            /* go on from the one that is there, if any */
    int every;              /* iterations from one checkpoint to the next; 0: by time alone */
    double every_seconds;   /* the same in seconds, also within an iteration; below 0: never */
    bool whole;             /* compare every point with every centroid in full; the same result */
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

/* What one iteration found; complete at rank 0. */
typedef struct km_step {
    int64_t iteration;         /* from 1 */
    uint64_t objective;        /* sum of squared distances to the centroids that were broadcast;
                                  where they are float32 as km_real_objective takes it */
    uint64_t previous;         /* the objective of the iteration before; 0 in the first */
    uint64_t moved;            /* points whose cluster changed; all in the first iteration */
    double imbalance;          /* k * sum of squared counts / n^2: 1 for clusters of equal size */
    uint64_t empty;            /* clusters without a point */
    uint64_t refilled;         /* of these, how many got a new centroid */
    double shift;              /* the farthest way of a centroid in this update */
    double seconds[KM_PHASES]; /* of the slowest rank in each phase; the total is all of it */
} km_step;

typedef enum km_stop {
    KM_STOP_UNMOVED,   /* neither a point nor a centroid moved */
    KM_STOP_TOLERANCE, /* no centroid moved farther than the tolerance */
    KM_STOP_MOVED,     /* few points moved */
    KM_STOP_GAIN,      /* the objective fell by little */
    KM_STOP_SECONDS,   /* the time is up */
    KM_STOP_ITERATIONS
} km_stop;

/* Who watches, at rank 0. */
typedef struct km_observer {
    /* Before iterations on a batch of so many points (batches.h); in the end on all. */
    void (*batch)(uint64_t points, void *context);
    /* The objective over all points, in km_step's units, after a batch. */
    void (*quality)(uint64_t objective, void *context);
    /* After each iteration. */
    void (*step)(const km_step *step, void *context);
    /* Now and then within iteration ITERATION, of whose map phase DONE (0 to 1) is done. */
    void (*progress)(int64_t iteration, double done, void *context);
    /* Something to know, as a line, that doesn't end the run. */
    void (*note)(const char *text, void *context);
    void *context;
} km_observer;

typedef struct km_result {
    uint8_t *centroids; /* k rows, on all ranks */
    uint32_t *nearest;  /* of each of this rank's points, among these very centroids */
    uint64_t objective; /* of the two, as in km_step; on all ranks */
    int64_t iterations; /* done */
    km_stop stop;
} km_result;

/*
 * Clusters POINTS. Collective; on false all ranks have
 * the same problem. The caller frees RESULT with km_result_free.
 *
 * A checkpoint that can't be written is noted; the one before stays and the run goes on. Resumed
 * from a checkpoint, at any number of ranks and threads, it ends with the same bits as if it had
 * never been interrupted. One that is there without being asked to resume it is a problem, so that
 * nobody's work is lost.
 *
 * The objective never rises from one iteration to the next (km_update says why).
 */
bool km_cluster(const km_points *points, const km_settings *settings, const km_observer *observer,
                MPI_Comm comm, km_result *result, app_problem *problem);

void km_result_free(km_result *result);

#endif
