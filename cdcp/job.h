/* What all parts of the engine know of the job: who serves whom, by what way, and how to wait. */
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
    bool posts;      /* this is an application rank between start and stop */
    bool threaded;   /* several threads may post */
    int rank;        /* in the job; everything here counts ranks in the job */
    MPI_Comm wire;   /* of all ranks, private; its errors return */
    MPI_Group group; /* of all ranks */
    MPI_Comm app;    /* of the application ranks, on these */
    coll_mapping mapping;
    coll_model_job model;
    coll_mailboxes mailboxes;
    size_t limit;   /* bytes of the largest allreduce or broadcast that is taken */
    size_t blocks;  /* and of all blocks of a rank, one for each other, where there are blocks */
    int radix;      /* of the exchange among DCPs */
    int digits;     /* and its stages at most where each has something else for each other one */
    double timeout; /* s until late ranks are reported; 0: never */
    coll_wait wait;
} coll_job;

/* Hidden, so that reading it takes no look-up of its address. */
extern coll_job coll_the_job __attribute__((visibility("hidden")));

/* What is rarely called: inlined it would have its caller save registers, which every post or wait
 * pays for. */
#define COLL_ASIDE __attribute__((noinline, cold))

/* Held where several threads may post, by who looks at what an application rank's threads share. */
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

/* Makes the application's world known, and opens this rank's mailbox. */
int coll_client_open(void);

/* Tells this rank's DCP that nothing more will come. */
int coll_client_close(void);

/* A DCP's life: serves until all of its application ranks have said stop. */
int coll_server_run(const coll_job *job);

/* The number of the application's world among communicators; others are agreed on. */
#define COLL_JOB_WORLD UINT64_C(0)

/* Tags on the wire; and the highest that every MPI library allows. */
enum {
    COLL_JOB_TAG_TO_DCP = 1,
    COLL_JOB_TAG_RESULT, /* and up, one a request */
    COLL_JOB_TAG_PROMISED = 32767
};

#endif
