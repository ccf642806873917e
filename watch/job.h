/* What every part of a watcher knows: the job, and which rank of it this is. */
#ifndef COLL_WATCH_JOB_H
#define COLL_WATCH_JOB_H

#include "watch/host.h"
#include "watch/settings.h"
#include "watch/wire.h"

/* Where a rank's watcher listens, and what it is. */
typedef struct watch_peer {
    struct in_addr address;
    uint16_t port; /* 0: it has none */
    watch_process process;
    uint64_t host;
    char host_name[40];
} watch_peer;

typedef struct watch_job {
    const watch_settings *settings;
    const watch_peer *peers;
    int rank, ranks;
    int thread; /* of the program that is taken for the one that computes, by the kernel's number */
} watch_job;

extern watch_job watch_own;

/* Questions between watchers. */
enum { WATCH_ASK_STATES = 1, WATCH_ASK_SAMPLES, WATCH_ASK_LOOK, WATCH_ALARM, WATCH_LEFT_JOB };

/* Asks the watcher of RANK. */
void watch_job_ask(int rank, const watch_question *question, watch_answered *answered, void *of);

/* Sends RANK's watcher a question and waits a moment until it has come, on any thread. */
void watch_job_tell(int rank, int kind, const void *data, size_t length);

/*
 * How long to wait in ROUND, 0 or 1, for a watcher that asks LEVELS of others in turn. It takes
 * longer where many ranks share a processor; the kernel of a host that is there takes a connection
 * at once.
 */
watch_patience watch_job_patience(int levels, int round);

/* SECONDS of the settings, in nanoseconds. */
uint64_t watch_job_limit(void);

#endif
