/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of the report: what one rank has recorded, with an estimate of what libcoll saved, and
 * their sums over ranks.
 */
#ifndef COLL_LIB_REPORT_ROWS_H
#define COLL_LIB_REPORT_ROWS_H

#include "lib/report/record.h"

#include <stdint.h>

/* The source of the time of the MPI library's own algorithm. */
typedef enum coll_report_source {
    COLL_REPORT_UNKNOWN,
    COLL_REPORT_NATIVE,    /* it ran in these calls */
    COLL_REPORT_MEASURED,  /* autotuning ran both algorithms, in this run or an earlier one */
    COLL_REPORT_ESTIMATED, /* predicted */
    COLL_REPORT_MIXED      /* a sum of which some parts are measured and others estimated */
} coll_report_source;

/* Seconds, with the range that they are estimated to be in. */
typedef struct coll_report_range {
    double low, middle, high;
} coll_report_range;

/* Adds MORE to SUM. */
static inline void coll_report_range_add(coll_report_range *sum, const coll_report_range *more) {
    sum->low += more->low;
    sum->middle += more->middle;
    sum->high += more->high;
}

/* The algorithm name in rows whose calls were run by dedicated processors. */
#define COLL_REPORT_DCP "dcp"

typedef struct coll_report_row {
    char operation[20]; /* "allreduce"; "iallreduce" if nonblocking, "allreduce_init" if persistent
                         */
    char algorithm[32];
    int32_t size_class;
    int32_t source;      /* a coll_report_source */
    double calls, bytes; /* bytes: this rank's data or block, summed over all calls */
    double inside;       /* s in calls; for requests, in starts and waits */
    double completed;    /* requests whose completion was seen */
    double until;        /* s from their starts to their completions */
    double estimated;    /* calls of all ranks for which SAVED is known */
    double predicted;    /* s that these calls were predicted to take; 0: not predicted */
    double everywhere;   /* calls on communicators of all ranks */
    /* s by which these calls would have taken longer natively, if they took PREDICTED seconds */
    coll_report_range saved;
} coll_report_row;

/* Returns the least bytes of the size class of ROW; 0 if its calls have no data. */
static inline size_t coll_report_row_bytes(const coll_report_row *row) {
    return row->bytes > 0 ? coll_class_bytes(row->size_class) : 0;
}

/* The most rows of one rank, and of all ranks together. Further rows are left out. */
enum { COLL_REPORT_ROWS = 1024 };

/* A predicted time is assumed to be right within this fraction. */
#define COLL_REPORT_PREDICTED_WITHIN 0.3

/*
 * Writes the rows of this rank, RANK of RANKS in MPI_COMM_WORLD, to ROWS, which has room for
 * COLL_REPORT_ROWS, and returns their number. Sets ROW_OF[i] to the row of the ith of
 * coll_report_classes, if that class has calls. Predictions take a while, so only the first rank of
 * each group estimates what was saved, for the calls of all ranks of the group.
 */
int coll_report_make_rows(int rank, int ranks, coll_report_row rows[], int16_t row_of[]);

/*
 * Completes ROW, which is a sum over all ranks: extrapolates SAVED and PREDICTED from the ESTIMATED
 * calls to all calls, and reduces SAVED in proportion if the calls took less than predicted. Needs
 * the mean of all ranks, since a single rank's time does not tell how long a call took: the root of
 * a broadcast leaves early.
 */
void coll_report_finish_saved(coll_report_row *row);

/* Adds the figures of ROW to those of SUM. */
void coll_report_sum_row(coll_report_row *sum, const coll_report_row *row);

/* Adds ROW to the row of SUMS with the same operation, size class and algorithm. If none of the
 * *COUNT rows has these, appends ROW, unless there are MOST rows. Returns the index of the row in
 * SUMS; -1 if ROW was left out. */
int coll_report_add_row(coll_report_row sums[], int *count, int most, const coll_report_row *row);

/*
 * Sets SAVED to the estimated seconds that libcoll would have saved in CLASS's calls, which the MPI
 * library ran, if the ranks are placed as in TOPO and messages cost what PROFILE says. Returns
 * false if there is no estimate.
 */
bool coll_report_would_save(const coll_report_class *class, const coll_topo *topo,
                            const coll_profile *profile, coll_report_range *saved);

#endif
