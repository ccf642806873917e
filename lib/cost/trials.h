/*
 * What trying the algorithms has shown, which a profile keeps, and what it makes of the model's
 * predictions. The model knows a network in general, but not what, say, waking up many ranks on few
 * cores does to one algorithm. Pure.
 */
#ifndef COLL_LIB_COST_TRIALS_H
#define COLL_LIB_COST_TRIALS_H

#include "coll_tools.h"

#include <stdbool.h>

typedef COLL_Trial coll_trial;

/* What is wrong with TRIAL, in a few static words; NULL where it is good. */
const char *coll_trial_fault(const coll_trial *trial);

/* A call, as trials tell it from others. */
typedef struct coll_trials_call {
    const char *operation, *algorithm;
    COLL_Level level; /* the farthest one at which its ranks are apart */
    int ranks;
    double bytes;
    bool stand_in; /* the model is of another algorithm that is much like it */
} coll_trials_call;

/*
 * Seconds that CALL takes by the COUNT trials of ALL, where the model says MODEL seconds.
 *
 * - Between sizes that were tried the model is wrong by a factor, which follows a straight line on
 *   logarithmic axes. On as many ranks as tried, what it lacks is added: that stays the same where
 *   their order, and with it the model, is another.
 * - Between numbers of ranks, too, what it lacks is added, and grows with the ranks. Where it says
 *   too much, or outside the sizes tried, the factors are interpolated. Lost packets tell nothing
 *   of other numbers of ranks. Where all ranks at CALL's level were more than its own, or all were
 *   fewer, those at other levels fill in.
 * - Below the smallest size it is wrong by as much as there or, where that is more, as it is at
 *   least for the operation's other algorithms; so it is for an algorithm that was never tried.
 * - Above the largest size what it lacks is added; where it says too much, that fades, to nothing
 *   at a size 8 times as large, since there the network's rate decides, which the model knows; of a
 *   stand-in either fades, to nothing at 64 times.
 */
double coll_trials_predict(const coll_trial all[], int count, const coll_trials_call *call,
                           double model);

#endif
