/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rounds of autotuning: decides which of a few candidate algorithms runs each call, while a
 * program finds out whether another candidate is faster than the chosen one. Pure: the decision
 * depends only on the number of calls and on times that all ranks have agreed on, so it is the same
 * on all ranks.
 *
 * At first the chosen algorithm runs, and the ranks agree on its time. If it takes far longer
 * than predicted, more is expected of the other candidates. They are each tried in a few calls, the
 * one with the largest expected gain first, as soon as
 *
 * - these calls, in the worst case, and all earlier tries cost at most a fiftieth of the time that
 *   all calls have taken so far, and
 * - repeating all calls so far with the candidate would be expected to gain more than the try
 *   costs.
 *
 * Each candidate is tried at most once. If it is faster by a fiftieth, it runs from then on. The
 * first call of a series with one algorithm is not timed: it seems too short if it overlaps with
 * the previous call, which some ranks (a broadcast's root) leave early.
 *
 * A rank's time is the median of its calls: a single disturbance does not count, but packets that
 * are lost in most calls do. After a try all ranks agree on the longest of their times. The
 * shortest would be wrong: a rank whose call takes long enters the next one late, finds its data
 * there, and leaves at once. The nonblocking agreement has a pause of some further calls to
 * complete, which is normally enough.
 *
 * The times of brief calls vary: other ranks or programs use the processors, and ranks arrive late.
 * Before a candidate is tried, COLL_AUTOTUNE_RECENT calls by the best one are timed, then as many
 * by the candidate. Its median must be below the lower quartile of the best one.
 */
#ifndef COLL_LIB_TUNING_AUTOTUNE_ROUNDS_H
#define COLL_LIB_TUNING_AUTOTUNE_ROUNDS_H

#include "lib/tuning/select.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    COLL_AUTOTUNE_TRY = 4,         /* calls of a try, if they are not brief */
    COLL_AUTOTUNE_TIMES = 4,       /* times in one agreement */
    COLL_AUTOTUNE_RECENT = 9,      /* latest calls whose median counts */
    COLL_AUTOTUNE_BRIEF = 10000000 /* ns; calls that take less are brief */
};

/* The times of the last calls, ns. */
typedef struct coll_recent_times {
    int64_t of[COLL_AUTOTUNE_RECENT];
    int64_t count; /* of all calls; only the last COLL_AUTOTUNE_RECENT times are kept */
} coll_recent_times;

typedef struct coll_autotune_rounds {
    coll_choices candidates;   /* the chosen algorithm, then the others */
    int64_t time[COLL_LIKELY]; /* agreed time of each candidate's calls, ns; 0: not known yet */
    bool settled;              /* no candidate is left to be tried */
    int best;                  /* the candidate that runs outside tries */
    int tried;                 /* the current or next try; if equal to BEST: BEST is being timed */
    int64_t calls;             /* so far */
    int64_t from;              /* the call before which the try begins */
    int pause;                 /* calls in which an agreement has time to complete */
    int64_t extra;             /* time that all tries have cost, ns */
    int last;                  /* the candidate of the last call; -1: none */
    coll_recent_times best_times, tried_times; /* of this rank, since the last agreement */
    int64_t own[COLL_AUTOTUNE_TIMES];          /* this rank's part of the agreement, ns: the medians
                                                  of BEST and TRIED, BEST's lower quartile, and
                                                  the sum of TRIED's times */
} coll_autotune_rounds;

/* Begins tuning: the first of CANDIDATES runs. Agreements, also the one on times known from earlier
 * tuning, have PAUSE calls to complete. */
void coll_autotune_rounds_begin(coll_autotune_rounds *rounds, const coll_choices *candidates,
                                int pause);

/* Sets the candidates' times known from earlier tuning; 0 for candidates whose time is not
 * known. */
void coll_autotune_rounds_set_known(coll_autotune_rounds *rounds, const int64_t times[]);

/* Returns the index of the candidate for the next call. */
int coll_autotune_rounds_next(const coll_autotune_rounds *rounds);

/* Drops the next try. */
void coll_autotune_rounds_skip_try(coll_autotune_rounds *rounds);

/* Records that a call took TIME ns (more than 0) on this rank. Returns true if the ranks must start
 * to agree on ROUNDS->own now. */
bool coll_autotune_rounds_record(coll_autotune_rounds *rounds, int64_t time);

/* Returns whether the agreement on the times must be complete before the next call. */
bool coll_autotune_rounds_due(const coll_autotune_rounds *rounds);

/* Continues with the AGREED times: each is the longest of all ranks'. */
void coll_autotune_rounds_use_agreed(coll_autotune_rounds *rounds, const int64_t agreed[]);

#endif
