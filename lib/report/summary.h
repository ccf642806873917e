/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole job's report, and how it is written as text, JSON or SVG. */
#ifndef COLL_LIB_REPORT_SUMMARY_H
#define COLL_LIB_REPORT_SUMMARY_H

#include "lib/report/arrivals.h"
#include "lib/report/links.h"
#include "lib/report/rows.h"
#include "lib/topology/topo.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { COLL_SUMMARY_LATE = 8, COLL_SUMMARY_HOST = 64 };

typedef struct coll_summary {
    int ranks, hosts;           /* the ranks that reported, and their hosts */
    int missing, first_missing; /* how many ranks did not report, and the lowest of them */
    double seconds;             /* the run's */
    int count;                  /* of ROWS, which are sums over ranks */
    coll_report_row *rows;
    double lost; /* calls in no row, the mean of the ranks */
    int late_count;
    coll_lateness late[COLL_SUMMARY_LATE];
    double clock_error;                    /* s, between hosts */
    char (*host_names)[COLL_SUMMARY_HOST]; /* of each host */
    int *host_of;                          /* of each rank */
    coll_topo topo;                        /* one rack; no places if a rank is missing */
    coll_link link;                        /* the bad link, if there is one */
    bool served;                           /* libcoll ran some calls */
    const char *why;                       /* why libcoll ran no calls; NULL: unknown */
    bool would_known;                      /* WOULD_SAVE is known */
    coll_report_range
        would_save; /* s that rank 0 would have saved if libcoll had chosen the algorithms */
} coll_summary;

/* Sorts the rows, those with the most time first. */
void coll_summary_sort(coll_summary *summary);

/* Write SUMMARY to STREAM in the C locale. Return false after a write error. */
bool coll_summary_print(FILE *stream, const void *summary);
bool coll_summary_print_json(FILE *stream, const void *summary);
bool coll_summary_print_svg(FILE *stream, const void *summary);

#endif
