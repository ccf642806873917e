/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts points so that pruning (pruning.h) skips as many tiles as possible. No MPI. */
#ifndef COLL_KMEANS_ASSIGN_REORDER_POINTS_H
#define COLL_KMEANS_ASSIGN_REORDER_POINTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reorders N points, given by their numbers WHICH and their guessed centroids GUESS (both arrays
 * are permuted in the same way). Points whose guesses have nearby POSITIONS
 * (km_centroids_positions, one for each of K centroids) come together, and among these points,
 * those at a similar DISTANCE from their guess; the sort is stable. Pruning (pruning.h) can skip a
 * tile only if it can skip it for all points of the tile, so a tile should hold points that are
 * near each other and equally near to their centroids. DISTANCE[i] belongs to WHICH[i] on entry and
 * is not permuted. Returns 0 or ENOMEM.
 */
int km_reorder_points(const uint32_t *positions, size_t k, size_t n, size_t *which, uint32_t *guess,
                      const uint32_t *distance);

#endif
