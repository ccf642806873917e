/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/profile/fit.h"

#include <math.h>
#include <stdbool.h>

enum { MOST_POINTS = 64 };
/* The largest relative error that needs no further knot. */
static const double GOOD_ENOUGH = 0.01;

/* Errors are relative to at least this time, since shorter times mean nothing; s. */
static const double LEAST_SECONDS = 1e-9;

/* Sets LEVEL to the nondecreasing values that are nearest to SECONDS, in least squares. */
static void pool_neighbours(int count, const double seconds[], double level[]) {
    int sizes[MOST_POINTS], blocks = 0;
    double means[MOST_POINTS];
    for (int i = 0; i < count; i++) {
        sizes[blocks] = 1;
        means[blocks++] = seconds[i];
        for (; blocks > 1 && means[blocks - 2] > means[blocks - 1]; blocks--) {
            int both = sizes[blocks - 2] + sizes[blocks - 1];
            means[blocks - 2] =
                (means[blocks - 2] * sizes[blocks - 2] + means[blocks - 1] * sizes[blocks - 1]) /
                both;
            sizes[blocks - 2] = both;
        }
    }
    for (int block = 0, i = 0; block < blocks; block++)
        for (int n = 0; n < sizes[block]; n++)
            level[i++] = means[block];
}

/* Returns the relative error of CURVE at BYTES, where SECONDS were measured. */
static double relative_error(const COLL_Curve *curve, double bytes, double seconds,
                             double besides) {
    double fitted = COLL_Curve_at(curve, bytes);
    return fabs(seconds - fitted) / fmax(fitted + besides, LEAST_SECONDS);
}

/* Makes the points marked in IS_KNOT the knots of CURVE. */
static void set_knots(int count, const double bytes[], const double level[], const bool is_knot[],
                      COLL_Curve *curve) {
    curve->knots = 0;
    for (int i = 0; i < count; i++)
        if (is_knot[i]) {
            curve->bytes[curve->knots] = bytes[i];
            curve->seconds[curve->knots++] = level[i];
        }
}

/* Returns the point with the largest relative error, or -1 if no error exceeds GOOD_ENOUGH. */
static int worst_point(int count, const double bytes[], const double level[], double besides,
                       const COLL_Curve *curve) {
    int worst = -1;
    double most = GOOD_ENOUGH;
    for (int i = 0; i < count; i++) {
        double error = relative_error(curve, bytes[i], level[i], besides);
        if (error > most) {
            most = error;
            worst = i;
        }
    }
    return worst;
}

void fit_curve(int count, const double bytes[], const double seconds[], double besides,
               COLL_Curve *curve) {
    double level[MOST_POINTS];
    bool is_knot[MOST_POINTS] = {false};
    count = count < MOST_POINTS ? count : MOST_POINTS;
    *curve = (COLL_Curve){.knots = 0};
    pool_neighbours(count, seconds, level);
    is_knot[0] = is_knot[count - 1] = true;
    set_knots(count, bytes, level, is_knot, curve);
    while (curve->knots < COLL_KNOTS) {
        int worst = worst_point(count, bytes, level, besides, curve);
        if (worst < 0)
            break;
        is_knot[worst] = true;
        set_knots(count, bytes, level, is_knot, curve);
    }
    for (int i = 0; i < count; i++)
        curve->error += relative_error(curve, bytes[i], seconds[i], besides) / count;
}

void fit_line(int count, const double x[], const double y[], double *slope, double *intercept) {
    double mean_x = 0, mean_y = 0, products = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        mean_x += x[i] / count;
        mean_y += y[i] / count;
    }
    for (int i = 0; i < count; i++) {
        products += (x[i] - mean_x) * (y[i] - mean_y);
        squares += (x[i] - mean_x) * (x[i] - mean_x);
    }
    *slope = squares > 0 ? products / squares : 0;
    *intercept = mean_y - *slope * mean_x;
}
