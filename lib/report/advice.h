/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recommends what would make the run shorter, from the report's figures. The recommendations are in
 * descending order of gain. Pure.
 */
#ifndef COLL_LIB_REPORT_ADVICE_H
#define COLL_LIB_REPORT_ADVICE_H

#include "lib/report/summary.h"

enum { COLL_ADVICE_MOST = 5 };

typedef struct coll_advice {
    const char *kind; /* "late rank", "late host", "moving work", "link", "native" or "call" */
    double seconds;   /* by which the run would be shorter */
    bool at_most;     /* SECONDS are an upper limit, not an estimate */
    int rank;         /* the late rank; -1: none */
    const char *host; /* the late host, or the host of the late rank or of the link; NULL: none */
    const coll_report_row *row; /* the row of a "call"; NULL for other kinds */
    char what[128];             /* the subject: "rank 5 (host n0) arrives late" */
    const char *setting;        /* what to do */
} coll_advice;

/* Writes at most COLL_ADVICE_MOST recommendations to ADVICE and returns their number. Their HOST
 * and ROW point into ALL. Call it in the C locale. */
int coll_advice_make(const coll_summary *all, coll_advice advice[COLL_ADVICE_MOST]);

/* Returns the name of the late host in ONE, or of the host of the rank in ONE. */
const char *coll_advice_late_host(const coll_summary *all, const coll_lateness *one);

/* Writes to TEXT, in SIZE bytes, what is wrong with ALL's link: "the link of host n2 is slow". */
void coll_advice_describe_link(const coll_summary *all, char *text, size_t size);

/* Returns whether ALL has a bad link that costs enough of the run to be named. */
bool coll_advice_names_link(const coll_summary *all);

/*
 * Returns the time of ROW's calls, without the time in which ranks waited for others, divided by
 * the predicted time; 0 if that is unknown, or if some of these calls were not on all ranks.
 */
double coll_advice_excess(const coll_summary *all, const coll_report_row *row);

/* Returns the share of the time in calls of OPERATION in which a rank does not wait for others; 1
 * if that is unknown. */
double coll_advice_transferring_share(const coll_summary *all, const char *operation);

#endif
