/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * K-means of rows in memory, by libcoll_kmeans: what coll-kmeans does with files. Every rank of a
 * communicator passes its own rows; the result is that of one rank with all rows in the order of
 * the ranks, with the same bits for any number of ranks and threads. One process passes
 * MPI_COMM_SELF.
 *
 * All functions are collective unless stated otherwise. They return MPI_SUCCESS; MPI_ERR_ARG if an
 * argument is wrong; or another error code. On an error all ranks return the same code and the same
 * PROBLEM, a line of text in SIZE bytes, and the results are undefined. MPI must be initialised.
 */
#ifndef COLL_KMEANS_H
#define COLL_KMEANS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum COLL_Kmeans_type {
    COLL_KMEANS_UINT8,
    COLL_KMEANS_FLOAT32,
    COLL_KMEANS_FLOAT64
} COLL_Kmeans_type;

/*
 * This rank's points: ROWS rows of DIM features, one row after the other. DIM is the same on all
 * ranks. Features must be finite. A fit uses them as bytes if all features on all ranks are whole
 * numbers from 0 to 255, the initial centroids in CENTROIDS are within this range, DIM is at most
 * 32768, and COSINE is 0; else as float32, which suffices for features that differ by more than one
 * part in 10^7 of the range of their column. The rows are copied to this form, except uint8 that is
 * used as bytes.
 */
typedef struct COLL_Kmeans_points {
    const void *data;
    size_t rows, dim;
    COLL_Kmeans_type type;
    const double *weights; /* of each row, finite and not negative: a row of weight 3 counts like
                              three equal rows. NULL: each weighs 1 */
} COLL_Kmeans_points;

/* The settings of a fit, the same on all ranks. */
typedef struct COLL_Kmeans_settings {
    size_t k;
    const char *start;       /* a method as in coll-kmeans --start, except file: */
    const double *centroids; /* the k x dim initial centroids instead; NULL: chosen by START */
    uint64_t seed;           /* of the choice by START */
    int iterations;          /* the most iterations */
    double tolerance; /* stop when the sum of the squared distances that centroids move is at most
                         this times the mean variance of the features; 0: no such rule */
    int threads;      /* threads of this rank; 0: its fair share of the processors */
    int cosine;       /* not 0: rows and centroids are scaled to length 1; then half a squared
                         distance is 1 minus the cosine */
} COLL_Kmeans_settings;

/* A set of centroids, the same on all ranks. The arrays are the caller's. */
typedef struct COLL_Kmeans_model {
    size_t k, dim;
    double *centroids; /* k x dim */
    double *offsets;   /* dim: feature f of column i is stored as (f - offsets[i]) * scale. NULL
                          in a prediction: the offsets are derived from the centroids, and the
                          scale from the centroids and the points */
    double scale;
    int cosine; /* as in the settings */
} COLL_Kmeans_model;

/*
 * Clusters POINTS. Sets MODEL, whose arrays have room for k x dim centroids and dim offsets; LABELS
 * to the cluster of each of this rank's points; *INERTIA to the weighted sum of the squared
 * distances of all points from their centroids; and *ITERATIONS to the number of iterations.
 */
int COLL_Kmeans_fit(const COLL_Kmeans_points *points, const COLL_Kmeans_settings *settings,
                    MPI_Comm comm, COLL_Kmeans_model *model, int32_t *labels, double *inertia,
                    int *iterations, char *problem, size_t size);

/*
 * Sets LABELS to the nearest centroid of each of this rank's points, and *INERTIA to the weighted
 * sum of the squared distances of all points from their centroids. Uses THREADS threads (0: as
 * above). Points to which MODEL was fitted get the same labels as in the fit.
 */
int COLL_Kmeans_predict(const COLL_Kmeans_points *points, const COLL_Kmeans_model *model,
                        int threads, MPI_Comm comm, int32_t *labels, double *inertia, char *problem,
                        size_t size);

/* Sets DISTANCES, rows x k, to the distance of each of this rank's points from each centroid. */
int COLL_Kmeans_transform(const COLL_Kmeans_points *points, const COLL_Kmeans_model *model,
                          int threads, MPI_Comm comm, double *distances, char *problem,
                          size_t size);

#ifdef __cplusplus
}
#endif

#endif
