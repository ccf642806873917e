/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lower bounds of distances. Each assignment of float32 points (quantised.h) keeps them for the
 * next assignment, which can then leave out most centroids. Source: Ding, Zhao, Shen, Musuvathi and
 * Mytkowicz, Yinyang K-Means, 2015. Distances are Euclidean, in the stored form of the points
 * (real.h). No MPI.
 *
 * The centroids are in groups. For each point and group there is a bound L: each centroid of the
 * group, except the point's nearest one, is at least L away from the point. If a centroid moves by
 * s, its distance from a point falls by s at most. So all bounds of a group fall by the largest s
 * of its centroids: the drift of the group. For each point the distance to its nearest centroid of
 * the last assignment is computed again. A group whose bound still exceeds this distance is left
 * out for the point.
 *
 * Unlike in Yinyang K-Means, those centroids that moved farthest in a group don't count for the
 * group's drift: they are compared with all points again. Their number is the one for which a
 * sample of bounds predicts the fewest products. If leaving out the other centroids saves too few
 * products, the whole group is compared with all points, and its bounds are computed again.
 *
 * The drifts of the group so far are added to a bound before it is stored, so that the bounds of a
 * group that is left out need no update. A stored bound has 16 bits: the upper half of a float.
 */
#ifndef COLL_KMEANS_ASSIGN_GROUP_BOUNDS_H
#define COLL_KMEANS_ASSIGN_GROUP_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    KM_BOUND_GROUP = 24, /* centroids: group sizes are multiples of this number, which is itself a
                            multiple of most kernels' panels */
    KM_BOUND_GROUPS = 32 /* groups, at most */
};

/* The largest bound that is stored: infinity. */
enum { KM_NO_BOUND = 0x7f80 };

typedef struct km_group_bounds {
    size_t rows, k, dim, groups;
    size_t size;      /* centroids of a group; the last group may have fewer */
    int assignments;  /* number begun so far; the first has no bounds, the second makes them */
    bool grouped;     /* GROUP is set */
    float *centroids; /* the centroids of the last assignment */
    uint32_t *group;  /* the group of each centroid */
    bool *moved;      /* for each centroid: it is compared with all points */
    bool *whole;      /* for each group: all of its centroids are compared with all points */
    float *drifts;    /* for each group: the sum of its drifts since WHOLE was last true */
    uint16_t *lower;  /* the bound of group g and point i is at g * ROWS + i */
} km_group_bounds;

/*
 * Prepares BOUNDS of K centroids for ROWS points of DIM features. Memory is allocated only when the
 * second assignment begins. Free it with km_group_bounds_free.
 */
void km_group_bounds_create(size_t rows, size_t k, size_t dim, km_group_bounds *bounds);
void km_group_bounds_free(km_group_bounds *bounds);

/*
 * Begins an assignment of all points to CENTROIDS. DISTANCE2 are the squared distances that the
 * last assignment found (real.h). Returns whether the assignment must use and renew the bounds. It
 * must not if it is the first one, if there are few centroids, or if memory is short.
 */
bool km_group_bounds_begin(km_group_bounds *bounds, const float *centroids,
                           const uint32_t *distance2);

/*
 * Forms the groups, unless that has been done: each group has BOUNDS->size centroids that follow
 * each other in ORDER.
 */
void km_group_bounds_form(km_group_bounds *bounds, const uint32_t *order);

/* Convert a bound from and to its stored form. Storing may lower the bound. */
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
