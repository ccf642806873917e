/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of quantised points, and panels of such points, with the results of the search so far. */
#ifndef COLL_KMEANS_ASSIGN_QUANTISED_POINTS_H
#define COLL_KMEANS_ASSIGN_QUANTISED_POINTS_H

#include "kmeans/assign/assign.h"
#include "kmeans/assign/quantised_centroids.h"

/* A block of points that are compared with CENTROIDS. */
typedef struct km_block {
    const km_quantised *centroids;
    size_t panel_bytes;
    unsigned char *data; /* panels of codes */
    uint8_t *codes; /* without a cache: the codes of the block, row after row; with a cache, scratch
                       memory for a panel */
    uint32_t *corrections;
    /* For each point of the block, and for missing points of its last panel. */
    const float **rows;
    const uint8_t **code_rows;
    uint32_t *own, *own_positions; /* the guess and its position; or KM_NO_CENTROID */
    uint32_t *numbers;             /* 0, 1, 2 and so on */
    float *halves, *code_norms, *code_rests, *slacks, *bounds; /* see km_screen (vectors.h) */
    float *squares;                                            /* |y|^2 */
    double *best; /* the squared distance of nearest; or infinity */
    uint32_t *nearest;
} km_block;

/* A panel of points, all of one block, and their search state in the order of the panel. */
typedef struct km_quantised_panel {
    const unsigned char *data;
    size_t n;                /* points; the rest of the panel is missing */
    const uint32_t *numbers; /* of its points in the block */
    const float *halves, *code_norms, *code_rests, *slacks;
    float *bounds;
} km_quantised_panel;

/*
 * Allocates a block of POINTS points, a whole number of panels, for CENTROIDS, which must exist as
 * long as the block. Returns false if memory is short. Free it with km_block_free.
 */
bool km_block_create(size_t points, const km_quantised *centroids, km_block *block);
void km_block_free(km_block *block);

/*
 * Quantises N points of the query, from number FIRST on, to BLOCK, and compares them with their
 * guesses (km_assign_query, assign.h).
 */
void km_block_prepare(km_block *block, const km_query *query, size_t first, size_t n,
                      const uint32_t *guess);

/* Returns the panel that begins with point I of a block of N points. */
km_quantised_panel km_block_panel(const km_block *block, size_t i, size_t n);

/*
 * Computes the distance of point I and centroid J in double precision, and updates best, nearest
 * and the bound of the point.
 */
void km_block_compare(const km_block *block, size_t i, uint32_t j);

#endif
