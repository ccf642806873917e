/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A progress thread: it polls often while its polls find progress, less and less often while they
 * do not, and sleeps while there is nothing to poll for. It polls at intervals because MPI has no
 * wait that sleeps.
 */
#ifndef COLL_LIB_BASE_PROGRESS_THREAD_H
#define COLL_LIB_BASE_PROGRESS_THREAD_H

#include <stdbool.h>

/* The result of a poll. */
typedef enum coll_tick {
    COLL_TICK_IDLE,  /* nothing to poll for: sleep until coll_progress_thread_wake */
    COLL_TICK_STILL, /* no progress since the last poll */
    COLL_TICK_MOVED  /* progress */
} coll_tick;

/*
 * Starts the thread, which calls LOOK. There is one thread per process: if it runs already, it
 * continues with the LOOK it has. Returns false if the system can create no thread.
 */
bool coll_progress_thread_begin(coll_tick (*look)(void));

/* Wakes the thread: there is something to poll for. */
void coll_progress_thread_wake(void);

/* Ends the thread after its current poll, and waits for it. Does nothing if there is no thread. */
void coll_progress_thread_end(void);

#endif
