/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare_samples(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void app_stats_sort(double samples[], int count) {
    qsort(samples, (size_t)count, sizeof *samples, compare_samples);
}

double app_stats_quantile(const double sorted[], int count, double fraction) {
    double place = fraction * (count - 1);
    int below = (int)place;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

double app_stats_median(double samples[], int count) {
    app_stats_sort(samples, count);
    return app_stats_quantile(samples, count, 0.5);
}

bool app_stats_median_is_steady(const double sorted[], int count, double tolerance) {
    if (count < 6)
        return false;
    /* The number of samples below the median is binomial; this uses its normal approximation. */
    double half_width = 1.96 * sqrt(count) / 2;
    int low = (int)floor(count / 2.0 - half_width), high = (int)ceil(count / 2.0 + half_width);
    low = low < 0 ? 0 : low;
    high = high > count - 1 ? count - 1 : high;
    return sorted[high] - sorted[low] <= tolerance * app_stats_quantile(sorted, count, 0.5);
}
