/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pruning of the search for the nearest centroids: sketches (projection.h) rule out centroids that
 * cannot be nearest to a point, and the point is compared in full with the remaining centroids
 * only. The result is exact. No MPI.
 *
 * A pruning index has up to three filter levels (filter_level.h): coarse sketches, if there are
 * any; full sketches; and the rows themselves, which are used for tiles of points and centroids in
 * which sketches leave too many pairs. Centroids near each other are stored side by side. If the
 * points of a panel are near each other, too, the coarse level rules out most tiles as a whole.
 *
 * Fixed-point centroids (fixed_point.h) are compared plane by plane until they are ruled out: the
 * distance to the first planes alone, less the error of these planes, is a lower bound. An index of
 * fixed-point centroids need not have sketches: then its only level is that of rows.
 */
#ifndef COLL_KMEANS_ASSIGN_PRUNING_H
#define COLL_KMEANS_ASSIGN_PRUNING_H

#include "kmeans/assign/filter_level.h"
#include "kmeans/assign/kernel.h"
#include "kmeans/assign/projection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pruning index: all centroids, and their sketches, packed for a kernel. */
typedef struct km_pruning km_pruning;

/*
 * Creates an index of the centroids in OF, using THREADS threads, and repacks OF's data in the
 * order of the index. PROJECTION may be NULL for fixed-point centroids. The caller keeps what OF
 * and PROJECTION point to for as long as the index. Free it with km_pruning_free. Returns 0 or
 * ENOMEM.
 */
int km_pruning_create(const km_packed *of, const km_projection *projection, int threads,
                      km_pruning **pruning);
void km_pruning_free(km_pruning *pruning);

/* Returns an array with the position of each centroid in the index. */
const uint32_t *km_pruning_positions(const km_pruning *pruning);

/* A thread's scratch memory for one tile: its pairs, their rows, and their products. */
enum { KM_TILE_PAIRS = KM_TILE_POINTS * KM_TILE_CENTROIDS + KM_SPARE };
typedef struct km_tile_scratch {
    km_pair pairs[KM_TILE_PAIRS];
    const uint8_t *points[KM_TILE_PAIRS], *centroids[KM_TILE_PAIRS];
    int32_t products[KM_TILE_PAIRS];
    int64_t first[KM_TILE_PAIRS];  /* for fixed-point centroids: |x|^2 - 2 x.h, h being the first
                                      plane */
    int32_t second[KM_TILE_PAIRS]; /* for fixed-point centroids: products with the second plane */
} km_tile_scratch;

/* Counts tiles at each level of sketches, so that levels of little use can be skipped. */
typedef struct km_tally {
    uint64_t tiles[KM_SKETCH_LEVELS]; /* tiles tested at this level */
    uint64_t left[KM_SKETCH_LEVELS];  /* tiles of these that the next level tested, too */
} km_tally;

enum { KM_FILTER_LEVELS = KM_SKETCH_LEVELS + 1 };

/* A panel of N points with its search state; all arrays are memory of one thread. */
typedef struct km_point_panel {
    const uint8_t *const *rows;
    size_t n;
    uint8_t *gathered; /* scratch for N rows */
    bool *packed;      /* whether the panel of rows has been packed */
    uint32_t *corrections, *best, *nearest;
    float *distances; /* upper bounds: the distances of the nearest centroids so far, or a little
                         more */
    uint64_t *exact_best; /* for fixed-point centroids: exact squared distances in units of 2^-32,
                             used instead of best; NULL for bytes */
    struct {              /* for each level, the coarsest first, and rows last */
        void *panel;      /* packed sketches, or rows */
        uint32_t *corrections; /* corrections of the sketches or rows, which the kernel's pack()
                                  computes (kernel.h) */
        float *errors;         /* the sketches' errors e (projection.h); NULL for rows */
        int32_t *floors;       /* thresholds that centroids must reach to be nearest (kernel.h) */
    } levels[KM_FILTER_LEVELS];
    km_tile_scratch *scratch;
    km_tally *tally;
} km_point_panel;

/* Return the number of levels with sketches, and the length of a sketch of level L. */
size_t km_pruning_sketch_levels(const km_pruning *pruning);
size_t km_pruning_sketch_size(const km_pruning *pruning, size_t l);

/*
 * Makes the points' sketches, if the index has any, and their corrections. KEPT, unless NULL, is a
 * cache indexed by NUMBERS: if the cache has the sketches of all these points, they are copied from
 * it; otherwise new sketches are made and stored in it.
 */
void km_pruning_sketch_points(const km_pruning *pruning, const size_t *numbers,
                              const km_sketch_cache *kept, const km_point_panel *points);

/*
 * Guesses the nearest centroids from sketches alone. Looks at every eighth panel of centroids, or,
 * if NEAR, at the panels around the nearest centroids so far, which must be set.
 */
void km_pruning_guess(const km_pruning *pruning, bool near, const km_point_panel *points);

/*
 * Starts the search before km_pruning_search: makes centroid GUESS[i] the nearest so far of point
 * i, with its score. If GUESS[i] is no centroid's number, point i starts with a score above any
 * other.
 */
void km_pruning_start(const km_pruning *pruning, const uint32_t *guess,
                      const km_point_panel *points);

/*
 * Returns the first level at which to test the tiles of the next block of centroids. TURN is the
 * number of blocks with which the points have been compared.
 */
size_t km_pruning_first_level(const km_pruning *pruning, size_t turn, const km_tally *tally);

/*
 * Compares the points with the centroids of panels START to END - 1 and updates their best and
 * nearest; of equally near centroids the lowest is nearest. Skips the levels before FROM.
 */
void km_pruning_search(const km_pruning *pruning, size_t start, size_t end, size_t from,
                       const km_point_panel *points);

/*
 * Prefetches rows of the block of centroids that begins with panel START. The rows are divided into
 * PARTS parts; only part PART (from 0) is prefetched.
 */
void km_pruning_prefetch(const km_pruning *pruning, size_t start, size_t part, size_t parts);

#endif
