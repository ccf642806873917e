/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the latest blocking calls of all ranks, and estimates how long the job would have taken
 * without libcoll. A rank that leaves a call earlier often waits for longer in its next one, so
 * savings of single calls do not add up: the calls are replayed in their order, with the time that
 * passed between them, once with the algorithms that ran and once with the MPI library's own. Sends
 * no messages.
 */
#ifndef COLL_LIB_REPORT_JOB_CALLS_H
#define COLL_LIB_REPORT_JOB_CALLS_H

#include "lib/cost/profile.h"
#include "lib/report/rows.h"
#include "lib/topology/topo.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct coll_job_calls coll_job_calls;

/* Returns an empty collection for a job of RANKS ranks, or NULL if out of memory. The caller frees
 * it with coll_job_calls_free. */
coll_job_calls *coll_job_calls_make(int ranks);
void coll_job_calls_free(coll_job_calls *all);

/*
 * Adds the calls of SERIES, which rank RANK of MPI_COMM_WORLD has recorded. PARTS has an element
 * for each of them, with times on rank 0's clock. SERIES is the next of the rank's remaining LEFT
 * series, which share the memory for the rank's calls. Returns false if out of memory; then
 * ALL is incomplete, and can't be replayed.
 */
bool coll_job_calls_add(coll_job_calls *all, int rank, size_t left, const coll_job_series *series,
                        const coll_recorded_call parts[]);

/*
 * Replays the calls of which all ranks' parts are known, for at most LIMIT seconds, on the hosts of
 * TOPO with the costs of PROFILE. Sets the savings of each of the COUNT ROWS that has such calls,
 * unless autotuning has measured some of these savings or dedicated processors ran the calls. ROWS
 * are sums over all ranks, after coll_report_finish_saved. Returns false, and leaves ROWS as they
 * are, if the calls can't be replayed. To be called once.
 */
bool coll_job_calls_replay(coll_job_calls *all, double limit, const coll_topo *topo,
                           const coll_profile *profile, int count, coll_report_row rows[]);

#endif
