/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of the job that application ranks and DCPs both use: which DCP serves which ranks, over
 * which transport, and how to wait.
 */
#ifndef COLL_CDCP_JOB_H
#define COLL_CDCP_JOB_H

#include "cdcp/dcp_model.h"
#include "cdcp/mailbox.h"
#include "cdcp/mapping.h"
#include "lib/base/wait.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct coll_job {
    bool posts;      /* true on an application rank, between start and stop */
    bool threaded;   /* several threads may post */
    int rank;        /* rank in the job, like all ranks here */
    MPI_Comm wire;   /* private communicator of all ranks; its errors are returned */
    MPI_Group group; /* of all ranks */
    MPI_Comm app;    /* communicator of the application ranks; MPI_COMM_NULL on DCPs */
    coll_mapping mapping;
    coll_model_job model;
    coll_mailboxes mailboxes;
    size_t limit; /* bytes of the largest allreduce or broadcast that DCPs take */
    /* upper limit in bytes of all blocks of a rank, in operations with a block for each rank */
    size_t blocks;
    int radix; /* radix of the exchange among DCPs */
    /*
     * largest number of stages of an exchange in which each DCP has different data for every other
     * DCP
     */
    int digits;
    double timeout; /* seconds until late ranks are reported; 0 for never */
    coll_wait wait;
} coll_job;

/* Hidden visibility: reading it needs no lookup of its address. */
extern coll_job coll_the_job __attribute__((visibility("hidden")));

/*
 * For rarely called functions. If they were inlined, their callers would save more registers, at
 * the cost of every post and wait.
 */
#define COLL_ASIDE __attribute__((noinline, cold))

/*
 * Code that uses data shared by an application rank's threads holds this lock if several threads
 * may post.
 */
extern pthread_mutex_t coll_job_lock;

static inline void coll_job_enter(void) {
    if (coll_the_job.threaded)
        pthread_mutex_lock(&coll_job_lock);
}

static inline void coll_job_leave(void) {
    if (coll_the_job.threaded)
        pthread_mutex_unlock(&coll_job_lock);
}

/* Sends a message of BYTES, a header and its body, to the DCP of this rank. */
int coll_job_tell(const void *message, size_t bytes);

/* Registers the application's world and opens this rank's mailbox. */
int coll_client_open(void);

/* Tells this rank's DCP that this rank posts nothing more. */
int coll_client_close(void);

/*
 * Runs a DCP: serves until all application ranks of the job have called DCP_Stop. Returns at once
 * if the DCP has no application ranks.
 */
int coll_server_run(const coll_job *job);

/*
 * The communicator number of the application's world. Other communicators' numbers come from their
 * first rank.
 */
#define COLL_JOB_WORLD UINT64_C(0)

/* Tags of messages, and the highest tag that every MPI library allows. */
enum {
    COLL_JOB_TAG_TO_DCP = 1,
    COLL_JOB_TAG_RESULT, /* the first tag for results; each request has its own tag */
    COLL_JOB_TAG_PROMISED = 32767
};

#endif
