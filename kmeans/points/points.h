/* SPDX-License-Identifier: BSD-3-Clause */
/* The points to be clustered: every rank holds a share of the rows, in memory or mapped. */
#ifndef COLL_KMEANS_POINTS_POINTS_H
#define COLL_KMEANS_POINTS_POINTS_H

#include "app/agreement.h"
#include "kmeans/points/point_storage.h"
#include "kmeans/points/real.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct km_points {
    uint8_t *data;            /* this rank's rows, one after the other */
    size_t rows;              /* rows of this rank */
    size_t dim;               /* features of a row */
    uint64_t first;           /* index of this rank's first row among all rows */
    uint64_t total;           /* rows of all ranks */
    km_real real;             /* for real features or distances; else all 0 */
    bool fixed_point;         /* centroids of these bytes are fixed-point numbers (fixed_point.h) */
    uint64_t *weights;        /* of this rank's points (weights.h); NULL: each point weighs 1 */
    uint64_t weight;          /* sum of the weights over all ranks, if there are some */
    int weight_bits;          /* the unit of weights is 2^-WEIGHT_BITS */
    km_point_storage storage; /* storage of the data; all 0 if km_points_free must not free them */
} km_points;

/*
 * Reads the files at PATHS, and the files in directories among PATHS, one after the other in the
 * byte order of their paths, as bytes; each rank gets an even share of the rows (km_share). Rank 0
 * prints progress (app/progress.h). Collective; on false all ranks have the same problem. The
 * caller frees POINTS with km_points_free.
 */
bool km_points_read(const char *const *paths, size_t count, MPI_Comm comm, km_points *points,
                    app_problem *problem);

/*
 * Does the same with two options. If DIRECTORY is not NULL, points stay on disk: a single file
 * whose rows are plain unsigned bytes (.npy, IDX, .u8bin) is mapped itself and must not change
 * until POINTS are freed; in all other cases a nameless copy in DIRECTORY is mapped. If REALS, and
 * some feature is not a whole number from 0 to 255, all features are converted to float32; then no
 * file may be text or gzipped.
 */
bool km_points_load(const char *const *paths, size_t count, const char *directory, bool reals,
                    MPI_Comm comm, km_points *points, app_problem *problem);

/*
 * Returns the path of the file that PATH names: PATH itself if it exists; else the part of PATH
 * before its last ":/", which begins the path of a dataset in an HDF5 file (file.h5:/train).
 * Without a ":/", that is all of PATH. The caller frees the result; NULL means that memory is
 * short.
 */
char *km_points_file(const char *path);

/*
 * Returns a list, ended by NULL, of the files that COUNT PATHS name (km_points_file); or NULL if
 * memory is short. km_points_files_free frees the list.
 */
char **km_points_files(const char *const *paths, size_t count);
void km_points_files_free(char **files);

/* Return the weight of point I of this rank, and the weight of all points of all ranks. */
static inline uint64_t km_point_weight(const km_points *points, size_t i) {
    return points->weights ? points->weights[i] : 1;
}
static inline uint64_t km_points_weight(const km_points *points) {
    return points->weights ? points->weight : points->total;
}

/*
 * Makes the centroids of POINTS fixed-point. The points must be unsigned bytes, and stay as they
 * are; squared distances and their sum then have the form used for real features. Reports a problem
 * if the points have too many features.
 */
bool km_points_use_fixed_point(km_points *points, app_problem *problem);

/*
 * Converts POINTS, which are unsigned bytes, to real features, so that their centroids may have any
 * values. If DIRECTORY is not NULL, the converted points are stored in a nameless file there.
 * Collective; on false all ranks have the same problem. The caller frees POINTS in either case.
 */
bool km_points_use_reals(km_points *points, const char *directory, MPI_Comm comm,
                         app_problem *problem);

/*
 * Scales the rows of POINTS to length 1, as real features, and lets their centroids be scaled to
 * length 1, too. Bytes are converted first, as by km_points_use_reals. Half a squared distance is
 * then 1 minus the cosine. Reports a problem if a row is 0. Collective; on false all ranks have the
 * same problem. The caller frees POINTS in either case.
 */
bool km_points_use_cosine(km_points *points, const char *directory, MPI_Comm comm,
                          app_problem *problem);

/* Converts DISTANCE2, a squared distance from an assignment, to a distance in the input's units. */
double km_points_distance(const km_points *points, uint32_t distance2);

/* Returns whether squared distances are the bits of floats, and objectives the bits of doubles. */
static inline bool km_has_real_distances(const km_points *points) {
    return points->real.used || points->fixed_point;
}

/*
 * Returns an objective (km_step) in the units of the input: the weighted sum of squared distances.
 */
double km_points_objective(const km_points *points, uint64_t objective);

/* Return the size in bytes of a row of POINTS, and of K centroids. */
size_t km_row_bytes(const km_points *points);
size_t km_centroids_bytes(const km_points *points, size_t k);

void km_points_free(km_points *points);

/* Computes the share of RANK if TOTAL items are spread evenly, in order, over RANKS. */
void km_share(uint64_t total, int rank, int ranks, uint64_t *first, uint64_t *count);

/*
 * Returns this rank's share of TOTAL rows of DIM features, unsigned bytes, over COMM, without data.
 */
km_points km_points_share(uint64_t total, size_t dim, MPI_Comm comm);

#endif
