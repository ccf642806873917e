/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watcher: a thread in each process. It sleeps until a call has lasted too long, or until
 * another watcher or coll-watch sends a question. Then one watcher asks all other watchers for the
 * states of their ranks and writes a report: the watcher that coll-watch has asked or, for a call
 * that lasts too long, usually that of the lowest rank that is alive. None of this uses MPI.
 */
#ifndef COLL_WATCH_WATCHER_H
#define COLL_WATCH_WATCHER_H

#include "watch/auth.h"
#include "watch/job.h"

/*
 * Opens the sockets on which the watcher listens: a TCP socket on ADDRESS, unless ADDRESS is NULL,
 * and a local socket. Fills in *SELF. Returns false if nothing could wake the watcher's thread.
 */
bool watch_watcher_open(const struct in_addr *address, watch_peer *self);

/* Returns whether PEER's watcher can be reached by TCP. */
bool watch_watcher_reaches(const watch_peer *peer);

/*
 * Starts the thread. SETTINGS and PEERS, which has RANKS elements, must remain valid. Reports show
 * the stack of the calling thread. Returns false if the thread can't be started.
 */
bool watch_watcher_start(const watch_settings *settings, int rank, int ranks,
                         const watch_peer *peers, const watch_secret *secret);

/* Ends the thread and closes all sockets. */
void watch_watcher_end(void);

/* Tells another rank's watcher that this process exits with STATUS without MPI_Finalize. */
void watch_watcher_leave(int status);

/*
 * Has a report made because a call has failed with the message TEXT and the job is about to end.
 * Waits one second for the report.
 */
void watch_watcher_failed(const char *text);

/* Closes the sockets in a process that this one has forked. */
void watch_watcher_forked(void);

#endif
