/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches with bounds of groups (group_bounds.h). The points of a block that can't leave out a
 * group are gathered, packed, and compared with the group. The caller then compares all points with
 * the centroids that can't be left out (quantised_order.c). Both searches find the bounds for the
 * next assignment.
 */
#ifndef COLL_KMEANS_ASSIGN_QUANTISED_BOUNDS_H
#define COLL_KMEANS_ASSIGN_QUANTISED_BOUNDS_H

#include "kmeans/assign/quantised_search.h"

typedef struct km_bounded km_bounded;

/*
 * Allocates the memory that a thread needs to use and renew the bounds of the points in BLOCK.
 * BLOCK has POINTS points and must exist as long as the result. Returns NULL if memory is short.
 * Free it with km_bounded_free.
 */
km_bounded *km_bounded_create(km_block *block, size_t points);
void km_bounded_free(km_bounded *bounded);

/* Returns the search of the block, which is part of BOUNDED. */
km_search *km_bounded_search(km_bounded *bounded);

/*
 * Begins the search of the block, which has N points of the query, from number FIRST on: compares
 * each point with the groups that it can't leave out.
 */
void km_bounded_begin(km_bounded *bounded, const km_query *query, size_t first, size_t n);

/* Stores the bounds of all groups that PANEL, a panel of the block, was compared with. */
void km_bounded_store(km_bounded *bounded, const km_quantised_panel *panel);

/* Ends the search of the block: completes the bounds of its N points. */
void km_bounded_end(km_bounded *bounded, size_t n);

#endif
