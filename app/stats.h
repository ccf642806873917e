/* SPDX-License-Identifier: BSD-3-Clause */
/* Order statistics of a few samples. No MPI. */
#ifndef COLL_APP_STATS_H
#define COLL_APP_STATS_H

#include <stdbool.h>

/*
 * Sorts COUNT samples, ascending. The functions below except app_stats_median need sorted samples,
 * at least one.
 */
void app_stats_sort(double samples[], int count);

/* Sorts at least one sample and returns the median. */
double app_stats_median(double samples[], int count);

/*
 * Returns the sample below which FRACTION (0 to 1) of the samples are, interpolated: 0.5 is the
 * median.
 */
double app_stats_quantile(const double sorted[], int count, double fraction);

/*
 * Returns true if the interval that contains the true median with 95 % confidence, whatever the
 * distribution, is no wider than TOLERANCE times the median. Returns false for fewer than 6
 * samples.
 */
bool app_stats_median_is_steady(const double sorted[], int count, double tolerance);

#endif
