/*
 * One filter level of a sieve (sieve.h): either the sketches of all centroids by one km_sketch,
 * packed for a kernel in the sieve's order, or the centroids themselves (fine ones rounded to
 * bytes), which are treated as their own sketches. No MPI.
 */
#ifndef COLL_KMEANS_ASSIGN_MESH_H
#define COLL_KMEANS_ASSIGN_MESH_H

#include "kmeans/assign/kernel.h"
#include "kmeans/assign/sketch.h"
#include "kmeans/points/fine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The packed centroids of a sieve; everything here belongs to the caller. */
typedef struct km_packed {
    const km_kernel *kernel;
    const uint8_t *rows; /* K rows of DIM bytes; for fine centroids the first plane */
    size_t k, dim;
    unsigned char *data; /* their panels, in the caller's order or in that of a sieve */
    const uint32_t *norms;
    size_t block;        /* the most panels that are processed together */
    const km_fine *fine; /* NULL if centroids are bytes */
} km_packed;

enum { KM_TILE_POINTS = 32, KM_TILE_CENTROIDS = 16 }; /* upper bounds for all kernels */

typedef struct km_mesh {
    const km_packed *of;
    const km_sketch *sketch;    /* NULL for the level of rows */
    size_t groups, panel_bytes; /* of a panel of sketches */
    const unsigned char *data;
    const uint32_t *norms;
    int32_t *starts;       /* - norms / 2 */
    float slack;           /* the largest error e (sketch.h) of a centroid's sketch */
    float out_of_reach;    /* more than the distance between any two sketches */
    float stretch;         /* that of the sketch, or 1 for rows */
    uint8_t *bytes;        /* the sketches, until they are packed */
    float *errors;         /* their errors e, until they are packed */
    unsigned char *packed; /* data and norms, unless they belong to the caller */
    uint32_t *packed_norms;
    unsigned char *axes; /* the sketch's axes, packed in centroid layout */
    int32_t axes_sums[KM_AXES + 1];
    size_t axes_groups, axes_panels, axes_panel_bytes;
} km_mesh;

/*
 * Makes the sketches of the centroids OF, using THREADS threads. The caller keeps OF. Returns 0 or
 * ENOMEM.
 */
int km_mesh_sketch(km_mesh *mesh, const km_packed *of, const km_sketch *sketch, int threads);

/*
 * Packs the sketches in the given ORDER of all centroids' numbers and frees bytes and errors.
 * Returns 0 or ENOMEM.
 */
int km_mesh_pack(km_mesh *mesh, const uint32_t *order);

/*
 * Makes the filter level of the rows themselves; OF's data hold them in the given ORDER. Returns 0
 * or ENOMEM.
 */
int km_mesh_rows(km_mesh *mesh, const km_packed *of, const uint32_t *order);

void km_mesh_free(km_mesh *mesh);

/*
 * Makes the sketches of the points packed in PANEL, whose CORRECTIONS (kernel.h) are given: writes
 * them to BYTES, one after the other, and their errors e to ERRORS.
 */
void km_mesh_take(const km_mesh *mesh, const void *panel, const uint32_t *corrections,
                  uint8_t bytes[KM_TILE_POINTS * KM_SKETCH], float *errors);

#endif
