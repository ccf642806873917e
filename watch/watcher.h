/*
 * The thread of each process that looks after its calls: it sleeps until one has lasted too long,
 * or until another watcher or coll-watch asks. Then some watcher, rank 0's where that lives, asks
 * all others for their states and writes a report. None of it goes by MPI.
 */
#ifndef COLL_WATCH_WATCHER_H
#define COLL_WATCH_WATCHER_H

#include "watch/job.h"
#include "watch/secret.h"

/*
 * Opens what the watcher listens on, by TCP on ADDRESS or, where that is NULL, not; *SELF says
 * where. False: there can be none.
 */
bool watch_watcher_open(const struct in_addr *address, watch_peer *self);

/* Whether PEER's watcher can be reached by TCP. */
bool watch_watcher_reaches(const watch_peer *peer);

/*
 * Starts the thread. PEERS, of RANKS ranks, must stay; the calling thread is taken for the one that
 * computes.
 */
bool watch_watcher_start(const watch_settings *settings, int rank, int ranks,
                         const watch_peer *peers, const watch_secret *secret);

/* Ends the thread and closes all. */
void watch_watcher_end(void);

/* This process ends without MPI_Finalize: others shall know. */
void watch_watcher_leave(int status);

/* A call has failed with TEXT, and the job will end: has a report made, and waits for it. */
void watch_watcher_failed(const char *text);

/* In a process that this one has forked. */
void watch_watcher_forked(void);

#endif
