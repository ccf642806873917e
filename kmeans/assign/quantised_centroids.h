/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions for the files of the quantised assignment: quantised centroids, in an order made for
 * the search, and the constants of the error bounds (quantised.h).
 */
#ifndef COLL_KMEANS_ASSIGN_QUANTISED_CENTROIDS_H
#define COLL_KMEANS_ASSIGN_QUANTISED_CENTROIDS_H

#include "kmeans/assign/quantised.h"

#include <float.h>

enum {
    KM_TILE_POINTS = 32,   /* the most points in a panel of any kernel */
    KM_TILE_CENTROIDS = 16 /* the most centroids in a panel of any kernel */
};

/* The constants of the error bounds; see quantised.h. */
static const float km_slack = 0x1p-18F;    /* 64 u */
static const float km_vanished = 0x1p-60F; /* added to norms to cover squares that underflow */
static const float km_largest = 0x1p40F;   /* the largest deviation that is quantised */
static const float km_least_scale = 0x1p-60F;

/* The number at positions without a centroid, which fill up panels. */
#define KM_NO_CENTROID UINT32_MAX

struct km_quantised {
    const km_kernel *kernel;
    const float *rows;
    size_t k, dim, groups, panels, panel_bytes;
    size_t cached;           /* panels that fit the cache together */
    km_group_bounds *bounds; /* or NULL */
    km_code_cache *cache;    /* or NULL */
    size_t *starts; /* the first panel of each group's centroids that can be left out; last, the
                       first panel of the centroids that are compared with all points */
    unsigned char *data; /* panels of codes */
    float *mean;
    float reach;         /* the largest finite |e| */
    uint32_t *positions; /* the position of each centroid in ORDER */
    /*
     * The centroids' numbers, or KM_NO_CENTROID. With bounds they are sorted by part
     * (quantised_order.c), and within a part by |e|; without bounds by |e| alone. So the centroids
     * of a panel have similar |e|. The arrays that follow are in this order.
     */
    uint32_t *order;
    float *squares, *scales, *norms, *rests;
    int32_t *bases;
    uint32_t *ends;  /* for each position: the end of its segment (vectors.h) */
    uint32_t *group; /* of the centroid at each position; 0 without bounds */
    /* For each panel, the largest of its norms and rests. */
    float *panel_norms, *panel_rests;
};

/* Returns the factor by which rounded norms of DIM features are multiplied to get upper bounds. */
static inline float km_norm_factor(size_t dim) {
    return 1 + ((float)dim + 16) * FLT_EPSILON;
}

/*
 * Allocates everything that is in the centroids' order, and sets the order, the positions, starts,
 * ends and groups, and the squares. Also forms the groups of the bounds, if that has not been done.
 * The mean must be set. Returns false if memory is short.
 */
bool km_quantised_arrange(km_quantised *centroids);

#endif
