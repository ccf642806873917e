/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for MPI requests. A wait spins while this process has a core of its own; otherwise it
 * yields, then sleeps with back-off ("polite"), so that ranks with nothing to do leave the
 * processor to others. A core counts as shared if the placement of the ranks says so, if the MPI
 * library was told to yield when idle, or if sharing is observed: when the process yields the core
 * and does not get it back at once, another process has run on it.
 */
#ifndef COLL_LIB_BASE_WAIT_H
#define COLL_LIB_BASE_WAIT_H

#include <mpi.h>
#include <stdbool.h>

/*
 * How a rank waits. COLL_WAIT_BLOCK calls the MPI library's blocking functions (MPI_Waitany and the
 * like), which have no timeout: for simulators in which time passes only in MPI calls. But with a
 * timeout, coll_wait_any, coll_wait_any_for and coll_wait_native poll.
 */
typedef enum coll_wait_manner {
    COLL_WAIT_AUTO,
    COLL_WAIT_POLITE,
    COLL_WAIT_SPIN,
    COLL_WAIT_BLOCK,
    COLL_WAIT_MANNERS /* number of values */
} coll_wait_manner;

typedef struct coll_wait {
    coll_wait_manner manner; /* the user's choice */
    bool crowded;            /* more processes than cores, or Open MPI yields when idle */
    double timeout;          /* s without progress after which waiting fails; 0: never */
    double shared_until;     /* time (PMPI_Wtime) until which the core counts as shared */
    double usual;            /* s: moving average of the duration of recent waits */
    double longest_sleep;    /* s: longest sleep on a shared core; 0: the default of 1 ms */
    double silence; /* s of waiting after which a wait sleeps even on a core of its own; 0: never */
    int early_wakeups; /* consecutive sleeping waits that a wake-up (socket_wakeup.h) ended */
    int turn;          /* the request that coll_wait_any tests first, for fairness */
} coll_wait;

/* The values of COLL_WAIT, terminated by NULL. */
extern const char *const coll_wait_manners[COLL_WAIT_MANNERS + 1];

/* Initializes WAIT. CROWDED: there are more processes than cores. TIMEOUT in seconds; 0: none. */
void coll_wait_init(coll_wait *wait, bool crowded, coll_wait_manner manner, double timeout);

/* Returns whether WAIT treats the core as shared for as long as it is used: the user asked for
 * polite waits or, with COLL_WAIT_AUTO, WAIT->crowded is set. */
static inline bool coll_wait_is_polite(const coll_wait *wait) {
    return wait->manner == COLL_WAIT_AUTO ? wait->crowded : wait->manner == COLL_WAIT_POLITE;
}

/*
 * Returns whether WAIT allows the MPI library's own blocking calls, which have no timeout and do
 * not sleep. If not, use its nonblocking calls with coll_wait_native. The result is the same on all
 * ranks, as it must be: the two kinds of call may send different messages.
 */
static inline bool coll_wait_as_mpi(const coll_wait *wait) {
    return wait->timeout == 0 && wait->manner != COLL_WAIT_POLITE;
}

/*
 * Waits until one of COUNT requests completes and sets *INDEX to it (MPI_UNDEFINED if none is
 * active). If several are complete, takes the next one after the last one taken. PEERS[i] is the
 * rank that request i depends on; PEERS may be NULL. After the timeout returns MPI_ERR_OTHER with a
 * text that names the lowest silent peer, the number of other silent peers, and the time. Returns
 * the error of a request unchanged. After an error the other requests are unchanged and still
 * belong to the caller.
 */
int coll_wait_any(coll_wait *wait, int count, MPI_Request requests[], const int peers[],
                  int *index);

/*
 * Waits until at least one request completes; sets *COMPLETED to the number of completed requests
 * (0 if none is active) and lists them in INDICES. INDICES and STATUSES have room for COUNT.
 */
int coll_wait_some(coll_wait *wait, int count, MPI_Request requests[], const int peers[],
                   int *completed, int indices[], MPI_Status statuses[]);

/*
 * Converts the return CODE of an MPI call that completed several requests: if it is
 * MPI_ERR_IN_STATUS, returns the first error among STATUSES, else CODE.
 */
int coll_wait_error(int code, int completed, const MPI_Status statuses[]);

/*
 * Waits as coll_wait_any does, but at most SECONDS (0: no limit) instead of the communicator's
 * timeout. If none completes in time, *INDEX is MPI_UNDEFINED, which is not an error.
 */
int coll_wait_any_for(coll_wait *wait, double seconds, int count, MPI_Request requests[],
                      int *index);

/* Waits for all requests. The timeout begins again whenever one completes. */
int coll_wait_all(coll_wait *wait, int count, MPI_Request requests[], const int peers[]);

/*
 * If not NULL, every wait calls this function each time its test finds nothing. It must not wait.
 * Blocking calls under COLL_WAIT_BLOCK do not call it.
 */
extern void (*_Atomic coll_wait_meanwhile)(void);

/*
 * Returns the error of a wait that has timed out after SECONDS; it names the lowest peer of an
 * incomplete request, and the number of other such peers.
 */
int coll_wait_report(double seconds, int count, MPI_Request requests[], const int peers[]);

/*
 * Returns the error (MPI_ERR_OTHER) of a wait that has timed out after SECONDS: rank FIRST and MORE
 * others were silent. FIRST < 0: the silent ranks are not known.
 */
int coll_wait_silent(double seconds, int first, int more);

/*
 * Returns the error for WHAT, a collective of the MPI library that has timed out after SECONDS; it
 * names no ranks, since the silent ones are not known.
 */
int coll_wait_late(const char *what, double seconds);

/*
 * Waits for REQUEST, a nonblocking collective of the MPI library, which the error calls WHAT. After
 * a timeout, neither the request nor the memory passed to the MPI library may be used or freed.
 */
int coll_wait_native(coll_wait *wait, MPI_Request *request, const char *what);

/*
 * Gives up requests after an error: cancels and frees them, so that none leaks. Messages may still
 * be in flight: do not use the communicator or free memory that was being sent or received.
 */
void coll_wait_abandon(int count, MPI_Request requests[]);

/*
 * Leaves MEMORY allocated until the process ends, for abandoned messages that may still arrive in
 * it. It stays reachable for leak checkers. MEMORY may be NULL. Returns NULL.
 */
void *coll_wait_leave(void *memory);

/*
 * The back-off of a wait, for loops that wait for something other than requests: call
 * coll_backoff_begin; then test and call coll_backoff_relax until the condition holds; then call
 * coll_backoff_progress, which also restarts the back-off.
 */
typedef struct coll_backoff {
    coll_wait *wait;
    double since;     /* when the back-off began, or the last progress */
    double looked;    /* when coll_backoff_expired was last called; initially SINCE */
    double waited;    /* s from SINCE to the last test that found nothing */
    int pauses;       /* pauses since the back-off began */
    int taken;        /* consecutive yields during which another process ran */
    bool woken;       /* the last pause was a sleep, not yet followed by a second test */
    bool slept;       /* the process has slept since the back-off began */
    bool woken_early; /* a wake-up ended the last sleep */
} coll_backoff;

coll_backoff coll_backoff_begin(coll_wait *wait);

/* Pauses (spins, yields or sleeps) after a test that found nothing. */
void coll_backoff_relax(coll_backoff *backoff);

/* Records that the awaited event has happened, and restarts the back-off. */
void coll_backoff_progress(coll_backoff *backoff);

/*
 * Returns whether more than SECONDS have passed since the back-off began; always false if SECONDS
 * is 0. Call it before each pause. If this process did not run for a while (SIGSTOP, a debugger, a
 * suspended host), the time begins again, since the others may have answered meanwhile.
 */
bool coll_backoff_expired(coll_backoff *backoff, double seconds);

#endif
