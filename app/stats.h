/* Order statistics of a few samples. Pure. */
#ifndef COLL_APP_STATS_H
#define COLL_APP_STATS_H

#include <stdbool.h>

/* Sorts COUNT samples, ascending. The others but the median want them sorted, and at least one. */
void app_stats_sort(double samples[], int count);

/* Sorts them, at least one, and returns the median. */
double app_stats_median(double samples[], int count);

/* The sample below which FRACTION (0 to 1) of them lie, interpolated: 0.5 is the median. */
double app_stats_quantile(const double sorted[], int count, double fraction);

/*
 * True when the median is known to within TOLERANCE of itself: the interval that holds the true
 * median with 95 % confidence, whatever the distribution, is no wider. Needs 6 samples at least.
 */
bool app_stats_median_is_steady(const double sorted[], int count, double tolerance);

#endif
