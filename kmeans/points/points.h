/* The points to be clustered: every rank holds an even share of the rows, in memory or mapped. */
#ifndef COLL_KMEANS_POINTS_POINTS_H
#define COLL_KMEANS_POINTS_POINTS_H

#include "app/agreement.h"
#include "kmeans/points/real.h"
#include "kmeans/points/room.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct km_points {
    uint8_t *data;  /* this rank's rows, one after the other */
    size_t rows;    /* of this rank */
    size_t dim;     /* features of a row */
    uint64_t first; /* the place of this rank's first row among all */
    uint64_t total; /* rows of all ranks */
    km_real real;   /* where features or distances are float32; else all 0 */
    bool fine;      /* centroids of these bytes are fine (fine.h) */
    km_room room;   /* where the data are; of zeros: not km_points_free's business */
} km_points;

/*
 * Reads the files at PATHS and in the directories among them, one after the other in the byte order
 * of their paths, each rank its share of the rows. Rank 0 says how far it is (app/progress.h).
 * Collective; on false all ranks have the same problem. The caller frees POINTS with
 * km_points_free.
 */
bool km_points_read(const char *const *paths, size_t count, MPI_Comm comm, km_points *points,
                    app_problem *problem);

/*
 * The same, with the points left on disk unless DIRECTORY is NULL: one file whose rows are just
 * their unsigned bytes (.npy, IDX) is mapped where it is, and must not change until the end; of
 * anything else a copy, which has no name, is mapped in DIRECTORY. With REALS, features of files
 * that are all of float32 stay float32 where some are no whole numbers from 0 to 255.
 */
bool km_points_load(const char *const *paths, size_t count, const char *directory, bool reals,
                    MPI_Comm comm, km_points *points, app_problem *problem);

/*
 * Makes the centroids of POINTS, which are unsigned bytes, fine: squared distances and their sum
 * are as those of real features then. A problem where the points have too many features.
 */
bool km_points_refine(km_points *points, app_problem *problem);

/* Bytes of a row of POINTS; of K centroids of them. */
size_t km_row_bytes(const km_points *points);
size_t km_centroids_bytes(const km_points *points, size_t k);

void km_points_free(km_points *points);

/* The share of RANK when TOTAL things are spread evenly, in order, over RANKS. */
void km_share(uint64_t total, int rank, int ranks, uint64_t *first, uint64_t *count);

/* This rank's share of TOTAL rows of DIM features, unsigned bytes, over COMM; without the data. */
km_points km_points_share(uint64_t total, size_t dim, MPI_Comm comm);

#endif
