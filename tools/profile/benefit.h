/*
 * Whether dedicated processors would pay for a program: the paper's condition on where its time
 * goes (paper "CDCP", section V.E), for those collectives that they serve, and where ranks share
 * processors.
 */
#ifndef COLL_TOOLS_PROFILE_BENEFIT_H
#define COLL_TOOLS_PROFILE_BENEFIT_H

#include "app/problem.h"

#include <stdbool.h>

/* Where a program's time goes without dedicated processors; seconds, means over its ranks. */
typedef struct benefit_times {
    double computation, collectives, point_to_point;
    double processor;       /* of the computation: what the processor did */
    double served, started; /* of the collectives: such as DCPs serve, blocking and not */
} benefit_times;

/*
 * Reads what a program wrote to the file at PATH, or to standard input for "-": its last line
 * "coll: account ..." of COLL_TRACE, which must be of a run without DCPs. Otherwise false, and
 * PROBLEM says why.
 */
bool benefit_read_trace(const char *path, benefit_times *times, int *ranks, app_problem *problem);

/* What DCPs leave of the time of collectives that they serve: blocking, and hidden by enough
 * computation. */
typedef struct benefit_shares {
    double blocking, started;
} benefit_shares;

/*
 * The paper's figures, 0.7 and 0, where each rank has a processor. Where it has a part p of one
 * while it computes, p times as much is saved, for while it waits the processor works for others
 * anyway; of blocking collectives p times that, for a rank waits until its DCP has a processor.
 */
benefit_shares benefit_by_paper(const benefit_times *times);

/*
 * Seconds with one DCP to SERVED application ranks out of the same ranks. Where each has a
 * processor of its own the computation grows by 1 / SERVED; where it has a part p of one only as
 * far as p (1 + 1 / SERVED) is above 1, since fewer ranks have larger parts. Of nonblocking
 * collectives the computation hides no more than its own time.
 */
double benefit_predict(const benefit_times *times, int served, benefit_shares shares);

/* The same program if it computed during all that DCPs serve. */
benefit_times benefit_overlapping(const benefit_times *times);

/* The fewest application ranks to a DCP for which DCPs pay; 0 where none do up to MOST. */
int benefit_least_served(const benefit_times *times, benefit_shares shares, int most);

#endif
