/*
 * Whether dedicated processors would pay for a program: the paper's condition on where its time
 * goes. Source: paper "CDCP", section V.E.
 */
#ifndef COLL_TOOLS_PROFILE_BENEFIT_H
#define COLL_TOOLS_PROFILE_BENEFIT_H

#include "app/problem.h"

#include <stdbool.h>

/* Where a program's time goes without dedicated processors; seconds. */
typedef struct benefit_times {
    double computation, collectives, point_to_point;
} benefit_times;

/*
 * Reads what a program wrote to the file at PATH, or to standard input for "-": its last line
 * "coll: account ... Tcomp=S Tcoll=S Tpoint=S ..." of COLL_TRACE, which must be of a run without
 * DCPs. Otherwise false, and PROBLEM says why.
 */
bool benefit_read_trace(const char *path, benefit_times *times, int *ranks, app_problem *problem);

/*
 * Seconds with one DCP to SERVED application ranks out of the same ranks: the computation grows by
 * 1 / SERVED, collectives take SHARE of their time (the paper's 0.7), or none of it where the
 * program overlaps them: (1 + 1/served) Tcomp + share Tcoll + Tpoint.
 */
double benefit_predict(const benefit_times *times, int served, double share);

/*
 * The fewest application ranks to a DCP for which DCPs pay at such a SHARE:
 * Tcoll > Tcomp / served / (1 - share); 0 where none do up to MOST.
 */
int benefit_least_served(const benefit_times *times, double share, int most);

#endif
