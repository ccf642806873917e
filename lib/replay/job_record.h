/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what COLL_RECORD has recorded of a job (lib/replay/call_log.h). Uses MPI only for
 * errors. */
#ifndef COLL_LIB_REPLAY_JOB_RECORD_H
#define COLL_LIB_REPLAY_JOB_RECORD_H

#include "coll_tools.h"
#include "lib/algorithm/operations.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ranks of one or more communicators. */
typedef struct coll_job_group {
    int ranks;
    int *members; /* in MPI_COMM_WORLD */
} coll_job_group;

/* A communicator. */
typedef struct coll_job_comm {
    uint64_t id;
    int group;     /* its number in COLL_Record; communicators of the same ranks share it */
    int announced; /* the last rank whose file has a line "comm" for it */
} coll_job_comm;

/* A blocking collective on one rank. Calls among neighbours are left out, as the edges between
 * neighbours aren't recorded. */
typedef struct coll_job_call {
    coll_operation operation;
    int comm;       /* its number in COLL_Record */
    int row;        /* index of the report's row for the call (lib/report/job_calls.h); 0 if the
                       call is not from a report */
    int root;       /* in the communicator; or COLL_NO_ROOT */
    bool uneven;    /* counts differ by rank */
    int64_t number; /* of the call in the job, from 0; the same on all ranks */
    size_t bytes;   /* of the data or a block; after coll_job_unify the mean over the ranks or, if
                       counts differ, over the blocks */
    double before;  /* s between the rank's previous call in CALLS and this one */
    double inside;  /* s */
} coll_job_call;

/* Messages to one rank. */
typedef struct coll_job_sent {
    int to;
    double bytes;
} coll_job_sent;

typedef struct coll_job_rank {
    char host[256];
    int site, rack; /* -1: unknown */
    size_t call_count, sent_count;
    coll_job_call *calls;
    coll_job_sent *sent;
    double after;   /* s between the last of CALLS and MPI_Finalize */
    double skipped; /* number of calls that are nonblocking, persistent or among neighbours */
} coll_job_rank;

struct COLL_Record {
    int ranks;
    coll_job_rank *of;
    int comm_count, group_count;
    coll_job_comm *comms;
    coll_job_group *groups;
};

/*
 * Makes room for one more element of SIZE bytes in *ARRAY, which has COUNT elements. Returns the
 * address of the new element, or NULL if out of memory.
 */
void *coll_job_add_element(void **array, size_t count, size_t size);

/* Returns the ranks of the communicator of CALL. */
static inline const coll_job_group *coll_job_group_of(const COLL_Record *record,
                                                      const coll_job_call *call) {
    return &record->groups[record->comms[call->comm].group];
}

/*
 * Visits the calls of RECORD, each call after the calls that come before it on any of its ranks.
 * VISIT gets the group's calls, one for each member; CONTEXT is passed on. If VISIT returns an
 * error, returns this error at once. Returns MPI_ERR_FILE if the ranks' calls do not match.
 */
typedef int coll_job_visit(void *context, const coll_job_group *group,
                           coll_job_call *const calls[]);
int coll_job_walk(const COLL_Record *record, coll_job_visit *visit, void *context);

/* Sets the bytes of the calls of each collective to the mean over its ranks (in an alltoall or a
 * reduce_scatter with uneven counts: to the mean block), and their NUMBER to the number of the
 * collective. Returns the errors of coll_job_walk. */
int coll_job_unify(const COLL_Record *record);

#endif
