/*
 * A sieve: leaves out, by their sketches (sketch.h), the centroids that can't be nearest to a
 * point, and compares the point with the others in full. What it finds is exact. No MPI.
 *
 * Fine centroids (fine.h) are compared plane by plane, as long as they may be nearest: by the first
 * planes one is as far as they say, less its error. For them there is a sieve without a sketch,
 * too: centroids rounded to bytes, as they are packed, are sketches of themselves.
 */
#ifndef COLL_KMEANS_ASSIGN_SIEVE_H
#define COLL_KMEANS_ASSIGN_SIEVE_H

#include "kmeans/assign/kernel.h"
#include "kmeans/assign/sketch.h"
#include "kmeans/points/fine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sketches of all centroids, packed for a kernel. */
typedef struct km_sieve km_sieve;

/* The centroids of a sieve, as they are packed; all this belongs to the caller. */
typedef struct km_packed {
    const km_kernel *kernel;
    const uint8_t *rows; /* K of DIM bytes; of fine centroids the first plane */
    size_t k, dim;
    const unsigned char *data; /* panels of them */
    const uint32_t *norms;
    size_t block;        /* how many panels km_sieve_sift gets at once, at most */
    const km_fine *fine; /* or NULL */
} km_packed;

/*
 * Makes the sketches of centroids by SKETCH, or for fine ones without a sketch if it is NULL, by
 * THREADS threads. What OF and SKETCH point to is kept by the caller for as long. Returns 0 or
 * ENOMEM.
 */
int km_sieve_create(const km_packed *of, const km_sketch *sketch, int threads, km_sieve **sieve);
void km_sieve_free(km_sieve *sieve);

/* The pairs of a tile, and their products. */
enum { KM_TILE_POINTS = 32, KM_TILE_CENTROIDS = 16 };
typedef struct km_tile_room {
    km_pair pairs[KM_TILE_POINTS * KM_TILE_CENTROIDS + KM_SPARE];
    int32_t products[KM_TILE_POINTS * KM_TILE_CENTROIDS + KM_SPARE];
    int64_t first[KM_TILE_POINTS * KM_TILE_CENTROIDS]; /* of fine centroids' first planes */
    int32_t second[KM_TILE_POINTS * KM_TILE_CENTROIDS];
} km_tile_room;

/* The points of a panel, and what is known of each: memory of a thread. */
typedef struct km_sifted {
    const uint8_t *rows; /* of the panel's first point */
    uint32_t *corrections, *best, *nearest;
    uint64_t *fine_best;          /* of fine centroids the distance, in units of 2^-32, for best */
    void *sketches;               /* a panel of sketches: KM_SKETCH bytes for each point */
    uint32_t *sketch_corrections; /* as a kernel's pack gives them */
    float *errors;                /* e of the sketches (sketch.h); NULL without a sketch */
    km_tile_room *room;           /* scratch */
} km_sifted;

/*
 * Makes the sketches of N points, packed in PANEL, whose corrections must be there; by a sketch.
 * They are kept in KEPT, too, unless it is NULL.
 */
void km_sieve_take(const km_sieve *sieve, const void *panel, size_t n, const km_sketches *kept,
                   const km_sifted *points);

/* Takes the sketches of N points, and their corrections, from KEPT. False where some are missing.
 */
bool km_sieve_recall(const km_sieve *sieve, const km_sketches *kept, size_t n,
                     const km_sifted *points);

/* Finds the nearest sketches among the panels START to END - 1; best is of them meanwhile. */
void km_sieve_sweep(const km_sieve *sieve, size_t start, size_t end, const km_sifted *points);

/*
 * Sets the best of each of N points just above the score of centroid GUESS[i], where that is one,
 * before km_sieve_sift.
 */
void km_sieve_guess(const km_sieve *sieve, const uint32_t *guess, size_t n,
                    const km_sifted *points);

/*
 * Lowers the best of the N points by the centroids of the panels START to END - 1, of one block,
 * and prefetches the rows of the NEXT points, which follow these. Returns how many pairs it
 * compared in full.
 */
size_t km_sieve_sift(const km_sieve *sieve, size_t start, size_t end, size_t n, size_t next,
                     const km_sifted *points);

/* Prefetches part PART of PARTS of the rows of the block of centroids that begins with panel START.
 */
void km_sieve_fetch(const km_sieve *sieve, size_t start, size_t part, size_t parts);

#endif
