/*
 * A sieve: leaves out, by their sketches (sketch.h), the centroids that can't be nearest to a
 * point, and compares the point with the others in full. What it finds is exact. No MPI.
 *
 * It has a mesh for the coarse sketches, if there are any, one for the others, and one for the rows
 * themselves, for tiles of points and centroids of which the others leave too many pairs. Centroids
 * near each other lie side by side, and where the points that come together are near each other,
 * too, the coarse mesh leaves out most tiles whole.
 *
 * Fine centroids (fine.h) are compared plane by plane, as long as they may be nearest: by the first
 * planes one is as far as they say, less its error. For them there is a sieve without a sketch,
 * too, which has the mesh of rows alone.
 */
#ifndef COLL_KMEANS_ASSIGN_SIEVE_H
#define COLL_KMEANS_ASSIGN_SIEVE_H

#include "kmeans/assign/kernel.h"
#include "kmeans/assign/mesh.h"
#include "kmeans/assign/sketch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sketches of all centroids, packed for a kernel. */
typedef struct km_sieve km_sieve;

/*
 * Makes the sketches of centroids by SKETCH, or for fine ones without a sketch if it is NULL, by
 * THREADS threads, and packs OF's data anew in its order. What OF and SKETCH point to is kept by
 * the caller for as long. Returns 0 or ENOMEM.
 */
int km_sieve_create(const km_packed *of, const km_sketch *sketch, int threads, km_sieve **sieve);
void km_sieve_free(km_sieve *sieve);

/* The place of each centroid in the order in which they lie in the sieve. */
const uint32_t *km_sieve_places(const km_sieve *sieve);

/* The pairs of a tile, their rows, and their products. */
enum { KM_TILE_PAIRS = KM_TILE_POINTS * KM_TILE_CENTROIDS + KM_SPARE };
typedef struct km_tile_room {
    km_pair pairs[KM_TILE_PAIRS];
    const uint8_t *points[KM_TILE_PAIRS], *centroids[KM_TILE_PAIRS];
    int32_t products[KM_TILE_PAIRS];
    int64_t first[KM_TILE_PAIRS]; /* of fine centroids' first planes */
    int32_t second[KM_TILE_PAIRS];
} km_tile_room;

/* What became of the tiles that a sieve was asked about. */
typedef struct km_tally {
    uint64_t tiles[KM_LEVELS]; /* that went through each mesh of sketches ... */
    uint64_t left[KM_LEVELS];  /* ... and from there to the next */
} km_tally;

enum { KM_MESHES = KM_LEVELS + 1 };

/* The N points of a panel, and what is known of each: memory of a thread. */
typedef struct km_sifted {
    const uint8_t *const *rows;
    size_t n;
    uint8_t *gathered; /* scratch: so many rows */
    bool *packed;      /* whether the panel of rows is made */
    uint32_t *corrections, *best, *nearest;
    float *distances;          /* for best, or a little more */
    uint64_t *fine_best;       /* of fine centroids the distance, in units of 2^-32, for best */
    struct {                   /* for each mesh, the coarsest first, and rows last */
        void *panel;           /* of sketches */
        uint32_t *corrections; /* of sketches, as a kernel's pack gives them */
        float *errors;         /* e of the sketches (sketch.h); NULL of rows */
        int32_t *floors;       /* of centroids that may be nearest (kernel.h) */
    } meshes[KM_MESHES];
    km_tile_room *room; /* scratch */
    km_tally *tally;
} km_sifted;

/* How many meshes of sketches it has; and the numbers of a sketch of mesh L. */
size_t km_sieve_sketches(const km_sieve *sieve);
size_t km_sieve_numbers(const km_sieve *sieve, size_t l);

/*
 * Makes the sketches of the points, if there are any, and their corrections; KEPT, unless NULL,
 * gets them as those of the points with these NUMBERS, or has them.
 */
void km_sieve_take(const km_sieve *sieve, const size_t *numbers, const km_sketches *kept,
                   const km_sifted *points);

/*
 * Guesses the nearest of the points by their sketches: among every eighth panel of centroids, or,
 * if NEAR, among those around what is nearest so far, which must be numbers of centroids.
 */
void km_sieve_look(const km_sieve *sieve, bool near, const km_sifted *points);

/*
 * Sets the best of each point to the score of centroid GUESS[i], where that is one, and else above
 * any, before km_sieve_sift.
 */
void km_sieve_guess(const km_sieve *sieve, const uint32_t *guess, const km_sifted *points);

/* The mesh that the tiles of a block begin with, which is number TURN that some points meet. */
size_t km_sieve_first(const km_sieve *sieve, size_t turn, const km_tally *tally);

/*
 * Lowers the best of the points by the centroids of the panels START to END - 1; of equally near
 * centroids the lowest is nearest. The meshes before FROM are left out.
 */
void km_sieve_sift(const km_sieve *sieve, size_t start, size_t end, size_t from,
                   const km_sifted *points);

/* Prefetches part PART of PARTS of the rows of the block of centroids that begins with panel START.
 */
void km_sieve_fetch(const km_sieve *sieve, size_t start, size_t part, size_t parts);

#endif
