/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/forecast.h"

#include <math.h>

/*
 * The weight of the latest sample in exponential smoothing, and of the latest error in the mean
 * error.
 */
static const double SMOOTHING = 0.25, ERROR_SHARE = 0.3;

/*
 * A sample is surprising if its distance from the prediction is more than this share of the
 * prediction and more than this many seconds.
 */
static const double SURPRISE = 0.25, LEAST_SURPRISE = 1e-3;

static double median_of_latest(const hlot_forecast *forecast) {
    double sorted[HLOT_HISTORY];
    int count = forecast->count < HLOT_HISTORY ? (int)forecast->count : HLOT_HISTORY;
    for (int i = 0; i < count; i++) {
        int place = i;
        for (; place > 0 && sorted[place - 1] > forecast->history[i]; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = forecast->history[i];
    }
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static void update_predictions(hlot_forecast *forecast, double seconds) {
    double *predicted = forecast->predicted;
    double share = 1.0 / (double)forecast->count;
    predicted[HLOT_LAST] = seconds;
    predicted[HLOT_MEAN] += (seconds - predicted[HLOT_MEAN]) * share;
    predicted[HLOT_SMOOTHED] += (seconds - predicted[HLOT_SMOOTHED]) * fmax(SMOOTHING, share);
    predicted[HLOT_MEDIAN] = median_of_latest(forecast);
}

void hlot_forecast_add(hlot_forecast *forecast, double seconds) {
    double before = hlot_forecast_value(forecast);
    double off = fabs(seconds - before);
    forecast->surprised = forecast->count > 0 && off > SURPRISE * before && off > LEAST_SURPRISE;
    for (int i = 0; i < HLOT_PREDICTORS && forecast->count > 0; i++)
        forecast->error[i] +=
            (fabs(seconds - forecast->predicted[i]) - forecast->error[i]) * ERROR_SHARE;
    forecast->history[forecast->count++ % HLOT_HISTORY] = seconds;
    update_predictions(forecast, seconds);
}

hlot_predictor hlot_forecast_best(const hlot_forecast *forecast) {
    hlot_predictor best = HLOT_MEDIAN;
    for (int i = 0; i < HLOT_PREDICTORS; i++)
        if (forecast->error[i] < forecast->error[best])
            best = (hlot_predictor)i;
    return best;
}

double hlot_forecast_value(const hlot_forecast *forecast) {
    return forecast->count ? forecast->predicted[hlot_forecast_best(forecast)] : 0;
}
