/* The cost model's parameters, worked out of what a survey has measured. Pure. */
#ifndef COLL_TOOLS_PROFILE_FITTED_H
#define COLL_TOOLS_PROFILE_FITTED_H

#include "tools/profile/survey.h"

#include <coll_tools.h>
#include <stdbool.h>

/* One function of size: what was measured, and the curve through it. */
typedef struct model_curve {
    int points;
    double bytes[PROBE_SIZES], seconds[PROBE_SIZES];
    double noise;      /* by what share a usual round exceeds the best one; the median */
    bool noisy;        /* more than is allowed: the curve is left out of the profile */
    COLL_Curve fitted; /* no knots where nothing was measured */
} model_curve;

typedef struct model_level {
    bool noisy; /* its messages or streams are: the whole level is left out */
    COLL_Cost cost;
    model_curve curve[COLL_PARAMETERS];
} model_level;

typedef struct model {
    const survey *survey; /* that it was worked out of */
    model_level level[COLL_LEVELS];
    model_curve copy[COLL_COPIES];
} model;

/*
 * A sample is the least of its rounds, and of several pairs the median counts. NOISE is what is
 * allowed. L is what remains of half a round trip after Os, Or and Ur; beyond the sizes that were
 * measured, L, gs and gr grow at the rate of a steady stream.
 */
void model_make(const survey *s, double noise, model *m);

#endif
