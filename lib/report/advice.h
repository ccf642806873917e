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
    const coll_lateness *late;  /* about a late rank, a late host or moving work; else NULL */
    const coll_report_row *row; /* of "call"; else NULL */
    const coll_link *link;      /* of "link"; else NULL */
    const char *setting;        /* what to do */
} coll_advice;

/* Writes at most COLL_ADVICE_MOST recommendations, which refer to ALL, and returns their number. */
int coll_advice_make(const coll_summary *all, coll_advice advice[COLL_ADVICE_MOST]);

/* Writes the subject of ADVICE to TEXT: "rank 5 (host n0) arrives late". */
void coll_advice_describe(const coll_summary *all, const coll_advice *advice, char *text,
                          size_t size);

/* Writes the name of LINK to TEXT: "the link of host n2". */
void coll_advice_name_link(const coll_summary *all, const coll_link *link, char *text, size_t size);

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
