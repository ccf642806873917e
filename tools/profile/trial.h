/*
 * Trials for a profile: libcoll's algorithms themselves, run on all ranks and on fewer, at a few
 * sizes where latency counts, beside what the cost model says of them.
 */
#ifndef COLL_TOOLS_PROFILE_TRIAL_H
#define COLL_TOOLS_PROFILE_TRIAL_H

#include <coll_tools.h>

enum { TRIAL_SIZES = COLL_TRIAL_KNOTS };

/* Bytes; ascending. Powers of two, since from each to the next the same is chosen. */
extern const size_t trial_size[TRIAL_SIZES];

/* The operations that can be tried, as coll-bench names them, and a NULL. Where sizes differ by
 * rank nothing is chosen. A barrier, which has no size, is tried at the first one. */
extern const char *const trial_operation[];

typedef struct trial_plan {
    const char *const *operations; /* of those, */
    size_t count;                  /* so many */
    double seconds;                /* for all trials together */
} trial_plan;

/*
 * Runs the trials of PLAN; collective over COMM, whose ranks are at PLACES. Where time is
 * short the slowest by the model are left out, or the size; and so is what the model gives no
 * chance. Groups on one node are passed over, since nothing is chosen there, and those at several
 * sites, whose latencies may change at any time. The model predicts by the profile of new
 * communicators. On rank 0 what is found is written to FOUND, of COLL_TRIALS, and
 * *COUNT is set; it also shows the progress. Returns an MPI error code, which may be that of some
 * ranks alone.
 */
int trial_run(MPI_Comm comm, const COLL_Place places[], const trial_plan *plan, COLL_Trial found[],
              int *count);

#endif
