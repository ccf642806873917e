/*
 * A sieve: leaves out, by their sketches (sketch.h), the centroids that can't be nearest to a
 * point, and compares the point with the others in full. What it finds is exact. No MPI.
 *
 * It has two meshes, where the sketch has a coarse one. Centroids near each other lie side by side
 * in it, and where the points that come together are near each other, too, the coarse mesh leaves
 * out most tiles of points and centroids whole.
 *
 * Fine centroids (fine.h) are compared plane by plane, as long as they may be nearest: by the first
 * planes one is as far as they say, less its error. For them there is a sieve without a sketch,
 * too: centroids rounded to bytes, as they are packed, are sketches of themselves.
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
 * THREADS threads. What OF and SKETCH point to is kept by the caller for as long. Returns 0 or
 * ENOMEM.
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

/* What became of the tiles and pairs that a sieve was asked about. */
typedef struct km_tally {
    uint64_t tiles, left; /* that the coarse mesh looked at, and that it left */
    uint64_t compared;    /* pairs, in full */
} km_tally;

/* The points of a panel, and what is known of each: memory of a thread. */
typedef struct km_sifted {
    const uint8_t *const *rows; /* of the panel's first point on */
    uint32_t *corrections, *best, *nearest;
    float *distances;          /* for best, or a little more */
    uint64_t *fine_best;       /* of fine centroids the distance, in units of 2^-32, for best */
    struct {                   /* for each mesh, the coarsest first */
        void *panel;           /* of sketches */
        uint32_t *corrections; /* of sketches, as a kernel's pack gives them */
        float *errors;         /* e of the sketches (sketch.h); NULL without a sketch */
        int32_t *floors;       /* of centroids that may be nearest (kernel.h) */
    } sketches[KM_LEVELS];
    km_tile_room *room; /* scratch */
    km_tally *tally;
} km_sifted;

/* Makes the sketches of N points, packed in PANEL, whose corrections must be there; by a sketch. */
void km_sieve_take(const km_sieve *sieve, const void *panel, size_t n, const km_sifted *points);

/*
 * The same, and keeps them in KEPT as those of the points with these NUMBERS; or takes them from
 * there, corrections and all, which fails where some are missing.
 */
void km_sieve_keep(const km_sieve *sieve, const void *panel, const size_t *numbers, size_t n,
                   const km_sketches *kept, const km_sifted *points);
bool km_sieve_recall(const km_sieve *sieve, const km_sketches *kept, const size_t *numbers,
                     size_t n, const km_sifted *points);

/*
 * Guesses the nearest of N points by their sketches: among every eighth panel of centroids, or, if
 * NEAR, among those around what is nearest so far, which must be numbers of centroids.
 */
void km_sieve_look(const km_sieve *sieve, bool near, size_t n, const km_sifted *points);

/*
 * Sets the best of each of N points to the score of centroid GUESS[i], where that is one, and else
 * above any, before km_sieve_sift.
 */
void km_sieve_guess(const km_sieve *sieve, const uint32_t *guess, size_t n,
                    const km_sifted *points);

/* Panels of centroids, START to END - 1, that go through the coarse mesh, too, or not. */
typedef struct km_tiles {
    size_t start, end;
    bool coarse;
} km_tiles;

/*
 * Lowers the best of the points by the centroids of TILES; of equally near centroids the lowest is
 * nearest.
 */
void km_sieve_sift(const km_sieve *sieve, km_tiles tiles, const km_sifted *points);

/* Prefetches part PART of PARTS of the rows of the block of centroids that begins with panel START.
 */
void km_sieve_fetch(const km_sieve *sieve, size_t start, size_t part, size_t parts);

#endif
