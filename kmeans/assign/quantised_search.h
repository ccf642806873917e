/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares panels of points with panels of centroids by products of their codes. Pairs that are not
 * ruled out are listed. From time to time, the exact distances of the listed pairs are compared.
 */
#ifndef COLL_KMEANS_ASSIGN_QUANTISED_SEARCH_H
#define COLL_KMEANS_ASSIGN_QUANTISED_SEARCH_H

#include "kmeans/assign/quantised_points.h"
#include "kmeans/assign/vectors.h"

/* The least scores that a search finds in each group of the bounds (group_bounds.h). */
typedef struct km_group_lows {
    float lows[KM_BOUND_GROUPS * KM_TILE_POINTS]; /* see km_screen (vectors.h) */
    bool touched[KM_BOUND_GROUPS]; /* whether the panel was compared with the group after the
                                      group's bounds were last stored */
} km_group_lows;

/* A pair that has not been ruled out. */
typedef struct km_open_pair {
    uint32_t point; /* in its block */
    uint32_t centroid;
    float low; /* a lower bound of h times its score */
} km_open_pair;

/* A thread's scratch memory. */
typedef struct km_search {
    km_block *block;
    km_group_lows *lows; /* or NULL */
    /* For a panel of points. */
    float lowest[KM_TILE_POINTS];    /* the lowest listed score of each point */
    uint32_t likely[KM_TILE_POINTS]; /* the centroid with that score */
    int32_t *products;
    km_estimate *estimates;
    km_open_pair *pairs;
    size_t count; /* of pairs */
} km_search;

/*
 * Allocates memory for searches in BLOCK, which the caller keeps for as long as SEARCH. Searches
 * lower the values in LOWS, which may be NULL. Returns false if memory is short. Free SEARCH with
 * km_search_free.
 */
bool km_search_create(km_block *block, km_group_lows *lows, km_search *search);
void km_search_free(km_search *search);

/*
 * Compares PANEL with the panels of centroids from START to END - 1: afterwards the block has, for
 * each point, the nearest of these centroids if it is nearer than the one found before.
 */
void km_search_panels(km_search *search, const km_quantised_panel *panel, size_t start, size_t end);

#endif
