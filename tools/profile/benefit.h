/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts whether dedicated collective processors (DCPs) pay for a program, from how it spends its
 * time (Sancho, Kerbyson and Barker, section V.E). Goes beyond the paper in two ways: DCPs serve
 * only some collectives, and ranks may share processors.
 */
#ifndef COLL_TOOLS_PROFILE_BENEFIT_H
#define COLL_TOOLS_PROFILE_BENEFIT_H

#include "app/problem.h"

#include <stdbool.h>

/* How a program spends its time without DCPs; seconds, means over its ranks. */
typedef struct benefit_times {
    double computation, collectives, point_to_point;
    double processor; /* processor time during the computation */
    double served;    /* of the collectives: blocking ones that DCPs could serve */
    double started;   /* of the collectives: nonblocking ones that DCPs could serve */
} benefit_times;

/* Returns how long the program takes. */
static inline double benefit_total(const benefit_times *times) {
    return times->computation + times->collectives + times->point_to_point;
}

/*
 * Reads a program's trace (COLL_TRACE) from the file at PATH, or from standard input if PATH is
 * "-". Sets *TIMES and *RANKS from its last line "coll: account ...", which must be from a run
 * without DCPs. Otherwise returns false, and PROBLEM has the reason.
 */
bool benefit_read_trace(const char *path, benefit_times *times, int *ranks, app_problem *problem);

/* The time of a collective with DCPs, as a share of its time without them. */
typedef struct benefit_shares {
    double blocking; /* of a blocking collective */
    double started;  /* of a nonblocking one with enough computation to hide it */
} benefit_shares;

/*
 * Returns the paper's shares, 0.7 and 0, if each rank has a processor of its own. If a rank that
 * computes has a part p of a processor, DCPs save only p times as much: while a rank waits, the
 * processor works for other ranks anyway. For blocking collectives they save p * p times as much,
 * since a rank also waits until its DCP gets a processor.
 */
benefit_shares benefit_by_paper(const benefit_times *times);

/*
 * Returns the predicted seconds if the same number of ranks includes one DCP for each SERVED
 * application ranks. The computation then takes max(1, p * (1 + 1 / SERVED)) times as long, where p
 * is the part of a processor that each rank has: if ranks share processors, fewer application ranks
 * get larger parts. Computation hides at most as many seconds of nonblocking collectives as it
 * takes itself.
 */
double benefit_predict(const benefit_times *times, int served, benefit_shares shares);

/* Returns the times of the same program if it overlapped all collectives that DCPs serve with
 * computation. */
benefit_times benefit_overlapping(const benefit_times *times);

/*
 * Returns the fewest application ranks per DCP with which DCPs save time; 0 if no number up to MOST
 * does.
 */
int benefit_least_served(const benefit_times *times, benefit_shares shares, int most);

#endif
