/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that all parts of a watcher share: the job, and the rank of this process. */
#ifndef COLL_WATCH_JOB_H
#define COLL_WATCH_JOB_H

#include "watch/host.h"
#include "watch/settings.h"
#include "watch/wire.h"

/* Where the watcher of a rank listens, and the process and host of the rank. */
typedef struct watch_peer {
    struct in_addr address;
    uint16_t port; /* 0 if it doesn't listen on TCP */
    watch_process process;
    uint64_t host;
    char host_name[40];
} watch_peer;

typedef struct watch_job {
    const watch_settings *settings;
    const watch_peer *peers;
    int rank, ranks;
    int thread; /* the kernel's id of the program's thread whose stack is reported */
} watch_job;

extern watch_job watch_own;

/* Returns the address on which the watcher of PEER listens. */
struct sockaddr_in watch_job_address(const watch_peer *peer);

/* Kinds of questions between watchers. */
enum { WATCH_ASK_STATES = 1, WATCH_ASK_SAMPLES, WATCH_ASK_LOOK, WATCH_ALARM, WATCH_LEFT_JOB };

/* Sends QUESTION to the watcher of RANK; ANSWERED receives the answer together with CONTEXT. */
void watch_job_ask(int rank, const watch_question *question, watch_answered *answered,
                   void *context);

/*
 * Sends a question to RANK's watcher and waits briefly for the confirmation of receipt. May be
 * called from any thread.
 */
void watch_job_tell(int rank, int kind, const void *data, size_t length);

/*
 * Returns the timeouts for a question in ROUND (0 or 1) to a watcher that forwards it through
 * LEVELS levels of further watchers. Watchers answer later if many ranks share a processor; but the
 * kernel of a live host accepts a connection at once.
 */
watch_timeouts watch_job_timeouts(int levels, int round);

/* Returns the SECONDS of the settings in nanoseconds. */
uint64_t watch_job_limit(void);

#endif
