/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lower bounds that assignments of float32 points (quantised.h) keep for the next one, so that it
 * can leave out most centroids. Source: Ding, Zhao, Shen, Musuvathi and Mytkowicz, Yinyang K-Means,
 * 2015. Distances are Euclidean, in the stored form of the points (real.h). No MPI.
 *
 * The centroids are in groups. For each point and group there is a bound L: each centroid of the
 * group, except the point's nearest one, is at least as far from the point as L says. If a centroid
 * moves by s, its distance falls by s at most, so the bounds of its group fall by the largest s:
 * its drift. For each point the distance to the centroid of the last assignment is computed again.
 * A group whose bound still exceeds this distance is left out.
 *
 * Unlike Yinyang K-Means, the centroids of a group that moved farthest don't count for its drift:
 * they are compared with all points again. How many these are is chosen from a sample of bounds, so
 * that the fewest products are expected. If that is nearly the whole group, all of it is compared
 * with all points, and its bounds are made anew.
 *
 * A bound is stored with the drifts of its group so far added to it, so that a group that is left
 * out needs no update. It has 16 bits: the upper half of a float.
 */
#ifndef COLL_KMEANS_ASSIGN_GROUP_BOUNDS_H
#define COLL_KMEANS_ASSIGN_GROUP_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    KM_BOUND_GROUP = 24, /* the size of groups is a multiple of this, and so of most panels */
    KM_BOUND_GROUPS = 32 /* groups, at most */
};

/* The largest bound that is stored: infinity. */
enum { KM_NO_BOUND = 0x7f80 };

typedef struct km_group_bounds {
    size_t rows, k, dim, groups;
    size_t size;      /* centroids of a group; the last may have fewer */
    int assignments;  /* that have begun; the first has no bounds, the second makes them */
    bool grouped;     /* GROUP is set */
    float *centroids; /* those of the last assignment */
    uint32_t *group;  /* of each centroid */
    bool *moved;      /* for each centroid: it is compared with all points */
    bool *whole;      /* for each group: so are all of its centroids */
    float *drifts;    /* for each group: the sum of its drifts since it was whole */
    uint16_t *lower;  /* the bound of group g and point i is at g * ROWS + i */
} km_group_bounds;

/*
 * Prepares bounds of K centroids for ROWS points of DIM features. Allocates no memory before the
 * second assignment. Free them with km_group_bounds_free.
 */
void km_group_bounds_create(size_t rows, size_t k, size_t dim, km_group_bounds *bounds);
void km_group_bounds_free(km_group_bounds *bounds);

/*
 * Begins an assignment of all points to CENTROIDS. DISTANCE2 are the squared distances that the
 * last one found (real.h). Returns whether the assignment must use and make bounds. It must not if
 * it is the first, if there are few centroids, or if memory is short.
 */
bool km_group_bounds_begin(km_group_bounds *bounds, const float *centroids,
                           const uint32_t *distance2);

/* Forms the groups, if that has not been done, from the centroids in ORDER. */
void km_group_bounds_form(km_group_bounds *bounds, const uint32_t *order);

/* Convert a bound from and to its stored form. The latter may lower it. */
static inline float km_bound_value(uint16_t stored) {
    const uint32_t bits = (uint32_t)stored << 16;
    float bound;
    memcpy(&bound, &bits, sizeof bound);
    return bound;
}

static inline uint16_t km_bound_store(float bound) {
    uint32_t bits;
    memcpy(&bits, &bound, sizeof bits);
    return (uint16_t)(bits >> 16);
}

#endif
