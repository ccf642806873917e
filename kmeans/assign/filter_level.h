/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One filter level of a pruning index (pruning.h): either the sketches of all centroids by one
 * km_projection, packed for a kernel in the index's order, or the centroids themselves (fixed-point
 * ones rounded to bytes), which are treated as their own sketches. No MPI.
 */
#ifndef COLL_KMEANS_ASSIGN_FILTER_LEVEL_H
#define COLL_KMEANS_ASSIGN_FILTER_LEVEL_H

#include "kmeans/assign/kernel.h"
#include "kmeans/assign/projection.h"
#include "kmeans/points/fixed_point.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The packed centroids of a pruning index; everything here belongs to the caller. */
typedef struct km_packed {
    const km_kernel *kernel;
    const uint8_t *rows; /* K rows of DIM bytes; for fixed-point centroids the first plane */
    size_t k, dim;
    unsigned char *data; /* panels of these rows, in the order of the caller or of the index */
    const uint32_t *norms;
    size_t block;                      /* the most panels that are processed together */
    const km_fixed_point *fixed_point; /* NULL if centroids are bytes */
} km_packed;

/* The most points, and the most centroids, in a panel of any kernel. */
enum { KM_TILE_POINTS = 32, KM_TILE_CENTROIDS = 16 };

typedef struct km_filter_level {
    const km_packed *of;
    const km_projection *projection; /* NULL for the level of rows */
    size_t groups, panel_bytes;      /* of a panel of sketches */
    const unsigned char *data;
    const uint32_t *norms;
    int32_t *starts;        /* - norms / 2 */
    float slack;            /* the largest error e (projection.h) of a centroid's sketch */
    float out_of_reach;     /* more than the distance between any two sketches */
    float stretch;          /* the projection's stretch, or 1 for rows */
    uint8_t *bytes;         /* the sketches, until they are packed */
    float *errors;          /* their errors e, until they are packed */
    unsigned char *packed;  /* the memory of DATA; NULL if the caller owns it */
    uint32_t *packed_norms; /* the memory of NORMS; NULL for the level of rows */
    unsigned char *axes;    /* the projection's axes, packed in centroid layout */
    int32_t axes_sums[KM_AXES + 1];
    size_t axes_groups, axes_panels, axes_panel_bytes;
} km_filter_level;

/*
 * Makes the sketches of all centroids in OF, using THREADS threads. OF and PROJECTION must exist as
 * long as LEVEL, which points to them. Returns 0 or ENOMEM.
 */
int km_filter_level_project(km_filter_level *level, const km_packed *of,
                            const km_projection *projection, int threads);

/*
 * Packs the sketches in the given ORDER of all centroids' numbers and frees bytes and errors.
 * Returns 0 or ENOMEM.
 */
int km_filter_level_pack(km_filter_level *level, const uint32_t *order);

/*
 * Makes the filter level of the rows themselves. When LEVEL is used, OF's data must hold the rows
 * in the given ORDER. OF must exist as long as LEVEL. Returns 0 or ENOMEM.
 */
int km_filter_level_from_rows(km_filter_level *level, const km_packed *of, const uint32_t *order);

void km_filter_level_free(km_filter_level *level);

/*
 * Makes the sketches of the points that are packed in PANEL and have CORRECTIONS (kernel.h). Writes
 * the sketches to BYTES, one after the other, and their errors e to ERRORS.
 */
void km_filter_level_sketch_points(const km_filter_level *level, const void *panel,
                                   const uint32_t *corrections,
                                   uint8_t bytes[KM_TILE_POINTS * KM_SKETCH], float *errors);

#endif
