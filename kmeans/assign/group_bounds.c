/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/group_bounds.h"

#include "kmeans/points/memory.h"
#include "kmeans/points/real.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_UNITS = 2 }; /* the fewest units, of KM_BOUND_GROUP centroids, in a group */
enum { SAMPLE = 512 };    /* the most points whose bounds are looked at before an assignment */

/* The cost of comparing a pair of a point and a centroid if only some points are compared with a
 * group, relative to the cost if all are. */
static const double GATHERED = 1.25;
/* A group is compared as a whole if leaving out pairs saves less than this share of the cost. */
static const double WORTHWHILE = 0.1;

void km_group_bounds_create(size_t rows, size_t k, size_t dim, km_group_bounds *bounds) {
    size_t units = km_quotient_up(k, (size_t)KM_BOUND_GROUP * KM_BOUND_GROUPS);
    size_t size = KM_BOUND_GROUP * (units < LEAST_UNITS ? LEAST_UNITS : units);
    *bounds = (km_group_bounds){
        .rows = rows, .k = k, .dim = dim, .groups = km_quotient_up(k, size), .size = size};
}

void km_group_bounds_free(km_group_bounds *bounds) {
    free(bounds->centroids);
    free(bounds->group);
    free(bounds->moved);
    free(bounds->whole);
    free(bounds->drifts);
    free(bounds->lower);
    *bounds = (km_group_bounds){.rows = 0};
}

static bool allocate(km_group_bounds *this) {
    const size_t bounds = this->groups * this->rows + 1;
    this->centroids = km_allocate(this->k * this->dim, sizeof *this->centroids);
    this->group = km_allocate(this->k, sizeof *this->group);
    this->moved = calloc(this->k, sizeof *this->moved);
    this->whole = calloc(this->groups, sizeof *this->whole);
    this->drifts = calloc(this->groups, sizeof *this->drifts);
    this->lower = calloc(bounds, sizeof *this->lower);
    return this->centroids && this->group && this->moved && this->whole && this->drifts &&
           this->lower;
}

/* Returns an upper bound of how far centroid J has moved. */
static float shift_of(const km_group_bounds *this, const float *centroids, size_t j) {
    double shift2 =
        km_real_distance2(this->centroids + j * this->dim, centroids + j * this->dim, this->dim);
    return (float)(sqrt(shift2) * (1 + 0x1p-20));
}

typedef struct member {
    float shift;
    uint32_t number;
} member;

static int compare_shifts(const void *a, const void *b) {
    const member *left = a, *right = b;
    return (left->shift < right->shift) - (left->shift > right->shift);
}

static int compare_floats(const void *a, const void *b) {
    const float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

/*
 * Sets MARGINS, in ascending order, to the drifts up to which GROUP can be left out for each point
 * of a sample. Returns their number.
 */
static size_t sample_margins(const km_group_bounds *this, size_t group, const uint32_t *distance2,
                             float *margins) {
    const size_t step = km_quotient_up(this->rows, SAMPLE);
    size_t n = 0;
    for (size_t i = 0; i < this->rows; i += step)
        margins[n++] = km_bound_value(this->lower[group * this->rows + i]) - this->drifts[group] -
                       sqrtf((float)km_real_value(distance2[i]));
    qsort(margins, n, sizeof *margins, compare_floats);
    return n;
}

/*
 * Chooses which of the N MEMBERS of GROUP are compared with all points: some of the first ones, or
 * all. MEMBERS are in descending order of their shifts. MARGINS has SAMPLE numbers.
 */
static void plan_group(km_group_bounds *this, size_t group, const member *members, size_t n,
                       const float *margins, size_t sample) {
    size_t best = n, above = 0;
    double least = (double)n * (1 - WORTHWHILE);
    for (size_t i = n; i-- > 0;) {
        /* Compute the cost if just the members before number I are compared with all points. */
        while (above < sample && margins[above] <= members[i].shift)
            above++;
        double share = sample ? (double)above / (double)sample : 0;
        double cost = (double)i + GATHERED * share * (double)(n - i);
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    this->whole[group] = best == n;
    this->drifts[group] =
        best == n ? 0 : (this->drifts[group] + members[best].shift) * (1 + 0x1p-22F);
    for (size_t i = 0; i < n; i++)
        this->moved[members[i].number] = i < best;
}

static bool plan(km_group_bounds *this, const float *centroids, const uint32_t *distance2) {
    float margins[SAMPLE];
    member *members = km_allocate(this->k, sizeof *members);
    if (!members)
        return false;
    for (size_t group = 0; group < this->groups; group++) {
        size_t n = 0, sample = sample_margins(this, group, distance2, margins);
        for (size_t j = 0; j < this->k; j++)
            if (this->group[j] == group)
                members[n++] = (member){shift_of(this, centroids, j), (uint32_t)j};
        qsort(members, n, sizeof *members, compare_shifts);
        plan_group(this, group, members, n, margins, sample);
    }
    free(members);
    return true;
}

bool km_group_bounds_begin(km_group_bounds *this, const float *centroids,
                           const uint32_t *distance2) {
    enum { FEWEST = 4 }; /* groups */
    const int number = ++this->assignments;
    if (number == 1 || this->groups < FEWEST)
        return false;
    if (number == 2 ? !allocate(this) : !plan(this, centroids, distance2)) {
        km_group_bounds_free(this); /* then there are no groups, and later calls return false */
        return false;
    }
    for (size_t group = 0; number == 2 && group < this->groups; group++)
        this->whole[group] = true;
    memcpy(this->centroids, centroids, this->k * this->dim * sizeof *centroids);
    return true;
}

void km_group_bounds_form(km_group_bounds *this, const uint32_t *order) {
    for (size_t j = 0; !this->grouped && j < this->k; j++)
        this->group[order[j]] = (uint32_t)(j / this->size);
    this->grouped = true;
}
