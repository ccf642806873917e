/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/nearness.h"

#include <math.h>
#include <stdlib.h>

/*
 * Round trips between sites take at least SITE_FACTOR times as long as the fastest one, and at
 * least SITE_LEAST seconds: microseconds within a site, milliseconds between sites.
 */
static const double SITE_FACTOR = 4, SITE_LEAST = 200e-6;

/* The first far time is at least this multiple of the last near one. */
static const double GAP = 1.12;

static int by_time(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static double median(const double sorted[], int first, int count) {
    return sorted[first + (count - 1) / 2];
}

/* Returns how many of COUNT sorted times are below the first gap; COUNT if there is none. */
static int count_near(const double sorted[], int count) {
    int near = 1;
    while (near < count && sorted[near] < GAP * sorted[near - 1])
        near++;
    return near;
}

coll_row_split coll_nearness_find(int count, const double seconds[], double fastest,
                                  double sorted[], coll_nearness nearness[]) {
    coll_row_split found = {.kind = COLL_ROW_EVEN};
    double most = fmax(SITE_LEAST, SITE_FACTOR * fastest), last_near = 0;
    int local = 0;
    for (int i = 0; i < count; i++)
        if (seconds[i] < most)
            sorted[local++] = seconds[i];
    qsort(sorted, (size_t)local, sizeof *sorted, by_time);
    int near = local > 0 ? count_near(sorted, local) : 0;
    if (near > 0)
        found.near = median(sorted, 0, near);
    if (near < local) {
        found.kind = COLL_ROW_CLEAR;
        found.far = median(sorted, near, local - near);
        last_near = sorted[near - 1];
        found.gap = sorted[near] / last_near;
    } else if (local > 0 && found.near >= GAP * sorted[0]) {
        found.kind = COLL_ROW_UNCLEAR;
    }
    for (int i = 0; i < count; i++)
        nearness[i] = seconds[i] >= most        ? COLL_AWAY
                      : seconds[i] <= last_near ? COLL_NEAR
                                                : COLL_FAR;
    return found;
}
