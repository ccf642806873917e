/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts the next latency of a link from the measured ones. Pure.
 *
 * As in the Network Weather Service, several predictors run side by side: the last value, the mean
 * of all values, the median of the latest values, and exponential smoothing. The predictor with the
 * smallest recent errors is used. While the latency is stable, this predictor is a median or mean,
 * which outliers hardly affect. After a lasting change, the last value is used from the second
 * sample on.
 *
 * Source: Wolski, Spring, Hayes: The Network Weather Service, from which Park and others take their
 * latencies (section 3.3).
 */
#ifndef COLL_HLOT_FORECAST_H
#define COLL_HLOT_FORECAST_H

#include <stdbool.h>

typedef enum hlot_predictor {
    HLOT_MEDIAN, /* of the latest HLOT_HISTORY values; preferred if errors are equal */
    HLOT_MEAN,
    HLOT_SMOOTHED,
    HLOT_LAST,
    HLOT_PREDICTORS
} hlot_predictor;

enum { HLOT_HISTORY = 9 };

typedef struct hlot_forecast {
    long count;                   /* number of samples so far */
    double history[HLOT_HISTORY]; /* the latest samples, in a ring buffer */
    double predicted[HLOT_PREDICTORS];
    double error[HLOT_PREDICTORS]; /* mean absolute error; recent errors have more weight */
    bool surprised;                /* the latest sample is far from its prediction */
} hlot_forecast;

/* Adds a measured latency. A zeroed forecast has no samples. */
void hlot_forecast_add(hlot_forecast *forecast, double seconds);

/* Returns the predictor with the smallest recent errors. */
hlot_predictor hlot_forecast_best(const hlot_forecast *forecast);

/* Returns the prediction of the best predictor, or 0 if nothing has been measured. */
double hlot_forecast_value(const hlot_forecast *forecast);

#endif
