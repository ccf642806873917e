/*
 * A mesh of a sieve (sieve.h): the sketches of all centroids by one km_sketch, packed for a kernel
 * in the sieve's order; or centroids, rounded to bytes if they are fine, which are sketches of
 * themselves. No MPI.
 */
#ifndef COLL_KMEANS_ASSIGN_MESH_H
#define COLL_KMEANS_ASSIGN_MESH_H

#include "kmeans/assign/kernel.h"
#include "kmeans/assign/sketch.h"
#include "kmeans/points/fine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The centroids of a sieve, as they are packed; all this belongs to the caller. */
typedef struct km_packed {
    const km_kernel *kernel;
    const uint8_t *rows; /* K of DIM bytes; of fine centroids the first plane */
    size_t k, dim;
    unsigned char *data; /* panels of them, in their order, or that of a sieve */
    const uint32_t *norms;
    size_t block;        /* how many panels are gone through at once, at most */
    const km_fine *fine; /* or NULL */
} km_packed;

enum { KM_TILE_POINTS = 32, KM_TILE_CENTROIDS = 16 }; /* of any kernel, at most */

typedef struct km_mesh {
    const km_packed *of;
    const km_sketch *sketch;    /* or NULL */
    size_t groups, panel_bytes; /* of a panel of sketches */
    const unsigned char *data;
    const uint32_t *norms;
    int32_t *starts;       /* - norms / 2 */
    float slack;           /* the largest e */
    float out_of_reach;    /* farther than any two sketches are from each other */
    float stretch;         /* of the sketch, or 1 */
    uint8_t *bytes;        /* the sketches, and their e, before they are packed */
    float *errors;         /* ... */
    unsigned char *packed; /* data and norms, where they are not the caller's */
    uint32_t *packed_norms;
    unsigned char *axes; /* of the sketch, packed as if they were centroids */
    int32_t axes_sums[KM_AXES + 1];
    size_t axes_groups, axes_panels, axes_panel_bytes;
} km_mesh;

/* Makes the sketches of OF, which the caller keeps, by THREADS threads. Returns 0 or ENOMEM. */
int km_mesh_sketch(km_mesh *mesh, const km_packed *of, const km_sketch *sketch, int threads);

/* Packs them in that ORDER, of all numbers of centroids; frees bytes and errors. The same. */
int km_mesh_pack(km_mesh *mesh, const uint32_t *order);

/* The rows as sketches of themselves, as OF's data has them in that ORDER. The same. */
int km_mesh_rows(km_mesh *mesh, const km_packed *of, const uint32_t *order);

void km_mesh_free(km_mesh *mesh);

/*
 * The sketches of the points packed in PANEL, whose corrections (kernel.h) are these: to BYTES, one
 * after the other, and their e.
 */
void km_mesh_take(const km_mesh *mesh, const void *panel, const uint32_t *corrections,
                  uint8_t bytes[KM_TILE_POINTS * KM_SKETCH], float *errors);

#endif
