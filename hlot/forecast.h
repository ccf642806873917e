/*
 * What the next latency of a link will be, from those measured. Pure.
 *
 * As the Network Weather Service does, several predictors are at work side by side: the last value,
 * the mean of all, the median of the latest, and exponential smoothing. The one whose recent errors
 * were least speaks for all. Where nothing changes a median or mean is best, as it passes over
 * outliers; after a lasting change the last value is, from its second sample on.
 *
 * Source: Wolski, Spring, Hayes: The Network Weather Service, which Park and others take their
 * latencies from (section 3.3).
 */
#ifndef COLL_HLOT_FORECAST_H
#define COLL_HLOT_FORECAST_H

#include <stdbool.h>

typedef enum hlot_predictor {
    HLOT_MEDIAN, /* of the latest HLOT_HISTORY; the first choice where all are alike */
    HLOT_MEAN,
    HLOT_SMOOTHED,
    HLOT_LAST,
    HLOT_PREDICTORS
} hlot_predictor;

enum { HLOT_HISTORY = 9 };

typedef struct hlot_forecast {
    long count;                   /* samples so far */
    double history[HLOT_HISTORY]; /* the latest, in a ring */
    double predicted[HLOT_PREDICTORS];
    double error[HLOT_PREDICTORS]; /* the mean of absolute errors, recent ones more */
    bool surprised;                /* the latest sample is far from what had been predicted */
} hlot_forecast;

/* Takes a measured latency. A zeroed forecast has none. */
void hlot_forecast_add(hlot_forecast *forecast, double seconds);

/* The predictor whose recent errors are least. */
hlot_predictor hlot_forecast_best(const hlot_forecast *forecast);

/* What it predicts; 0 where nothing was measured yet. */
double hlot_forecast_value(const hlot_forecast *forecast);

#endif
