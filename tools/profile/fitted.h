/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits the cost model's parameters to a survey's measurements. Does no I/O and uses no MPI. */
#ifndef COLL_TOOLS_PROFILE_FITTED_H
#define COLL_TOOLS_PROFILE_FITTED_H

#include "tools/profile/survey.h"

#include <coll_tools.h>
#include <stdbool.h>

/* One parameter as a function of size: the measured points, and the curve fitted to them. */
typedef struct model_curve {
    int points;
    double bytes[PROBE_SIZES], seconds[PROBE_SIZES];
    double noise;      /* how much the median round exceeds the best round, as a share of the best
                          round */
    bool noisy;        /* noise is above the limit: the profile leaves the curve out */
    COLL_Curve fitted; /* without knots if nothing was measured */
} model_curve;

typedef struct model_level {
    bool noisy; /* messages or streams are too noisy: the profile leaves the level out */
    COLL_Cost cost;
    model_curve curve[COLL_PARAMETERS];
} model_level;

typedef struct model {
    const survey
        *survey; /* the measurements from which the model was made; belongs to the caller */
    model_level level[COLL_LEVELS];
    model_curve copy[COLL_COPIES];
} model;

/*
 * Makes M from S. A point is the median, over all pairs, of the minimum over a pair's rounds.
 * Curves and levels whose noise exceeds NOISE are marked noisy. L is half a round trip less Os, Or
 * and Ur. Beyond the measured sizes, L and gs grow at the rate of a steady stream, and gr at the
 * rate of converging streams.
 */
void model_make(const survey *s, double noise, model *m);

#endif
