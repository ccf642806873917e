/*
 * Polite waiting for MPI requests: spin while this process has a core of its own, else yield, then
 * sleep with back-off, so that ranks with nothing to do leave the processor to those with data.
 * Whether the core is shared is known from the places of the ranks or from the MPI library, which
 * may have been told to yield when idle; or it is noticed: a core that is offered to others and
 * does not come back at once has been taken.
 */
#ifndef COLL_LIB_BASE_WAIT_H
#define COLL_LIB_BASE_WAIT_H

#include <mpi.h>
#include <stdbool.h>

/*
 * COLL_WAIT_BLOCK leaves waiting to the MPI library (MPI_Waitany and its like), without time-outs:
 * for simulators, in which time passes in MPI calls alone.
 */
typedef enum coll_wait_manner {
    COLL_WAIT_AUTO,
    COLL_WAIT_POLITE,
    COLL_WAIT_SPIN,
    COLL_WAIT_BLOCK,
    COLL_WAIT_MANNERS /* how many there are */
} coll_wait_manner;

typedef struct coll_wait {
    coll_wait_manner manner; /* what the user wants */
    bool crowded;            /* there are more processes than cores for them */
    double timeout;       /* s without any progress after which waiting is an error; 0: for ever */
    double shared_until;  /* date until which others are known to want this core */
    double usual;         /* s: what waits have lately taken */
    double longest_sleep; /* s, on a shared core; 0: the usual millisecond */
    double silence; /* s of waiting after which it sleeps on a core of its own too; 0: never */
    int rung;       /* waits in a row that slept and that the doorbell ended */
    int turn;       /* which request coll_wait_any looks at first, so that all get their turn */
} coll_wait;

/* What COLL_WAIT calls them; NULL behind the last. */
extern const char *const coll_wait_manners[COLL_WAIT_MANNERS + 1];

/*
 * How processes should wait; CROWDED where there are more of them than cores for them. TIMEOUT in
 * seconds, 0 for none.
 */
void coll_wait_init(coll_wait *wait, bool crowded, coll_wait_manner manner, double timeout);

/* Whether others are known to want this core as long as WAIT is used. */
static inline bool coll_wait_is_polite(const coll_wait *wait) {
    return wait->manner == COLL_WAIT_AUTO ? wait->crowded : wait->manner == COLL_WAIT_POLITE;
}

/*
 * Returns whether the MPI library's own blocking calls wait as WAIT says. They know no time-out and
 * don't sleep; if not, its nonblocking calls and coll_wait_native do. The same on all ranks, since
 * the library may send other messages for the one than for the other.
 */
static inline bool coll_wait_as_mpi(const coll_wait *wait) {
    return wait->timeout == 0 && wait->manner != COLL_WAIT_POLITE;
}

/*
 * Waits until one request of COUNT is complete; *INDEX is which one (MPI_UNDEFINED when none is
 * active). Of several complete ones it takes the next after the one that it took last. PEERS[i] is
 * the rank that request i waits for; it is named when the time runs out: MPI_ERR_OTHER with a text
 * that says who is silent and for how long. PEERS may be NULL. The error of a request comes back as
 * it is. After an error the other requests are as they were, and still the caller's.
 */
int coll_wait_any(coll_wait *wait, int count, MPI_Request requests[], const int peers[],
                  int *index);

/*
 * Waits until at least one request is complete; *COMPLETED of them are, and their numbers are in
 * INDICES. INDICES and STATUSES have room for COUNT. None of them active: *COMPLETED is 0.
 */
int coll_wait_some(coll_wait *wait, int count, MPI_Request requests[], const int peers[],
                   int *completed, int indices[], MPI_Status statuses[]);

/* CODE of an MPI call that completed some requests: that of the first of them that has an error. */
int coll_wait_error(int code, int completed, const MPI_Status statuses[]);

/*
 * The same for at most SECONDS (0: for ever), whatever the communicator's time-out: when none is
 * complete by then, *INDEX is MPI_UNDEFINED, and that is no error.
 */
int coll_wait_any_for(coll_wait *wait, double seconds, int count, MPI_Request requests[],
                      int *index);

/* Waits for all of them, in the same manner; each one that completes is progress. */
int coll_wait_all(coll_wait *wait, int count, MPI_Request requests[], const int peers[]);

/*
 * What every wait does while it finds nothing; NULL: nothing. It must not wait itself. Waits that
 * are left to the MPI library (COLL_WAIT_BLOCK) don't.
 */
extern void (*_Atomic coll_wait_meanwhile)(void);

/* The error of a wait that has expired: names the peers of the requests that are not complete. */
int coll_wait_report(double seconds, int count, MPI_Request requests[], const int peers[]);

/*
 * The error, MPI_ERR_OTHER, of a wait of SECONDS in vain: rank FIRST and MORE others were silent,
 * or it is not known which (FIRST < 0).
 */
int coll_wait_silent(double seconds, int first, int more);

/* Returns the same error for WHAT, a collective of the MPI library's own: who is silent isn't
 * known.
 */
int coll_wait_late(const char *what, double seconds);

/*
 * Waits for a nonblocking collective of the MPI library's own, whose name is WHAT. Once the time
 * has run out its request is the library's for ever, and so is the memory that it was given.
 */
int coll_wait_native(coll_wait *wait, MPI_Request *request, const char *what);

/*
 * Gives up requests after an error: cancels what can be cancelled and frees the rest, so that none
 * leaks. Messages may still be under way: the communicator must not be used afterwards, nor memory
 * be freed that was being sent.
 */
void coll_wait_abandon(int count, MPI_Request requests[]);

/*
 * Leaves MEMORY to messages that were given up and may still be under way: it lives on, and can be
 * found by who looks for leaks, until the process ends. NULL is fine, and what it returns.
 */
void *coll_wait_leave(void *memory);

/*
 * The same patience for waits on other things than requests: begin, then look and relax until what
 * was waited for is there, then progress. Begins anew after progress.
 */
typedef struct coll_patience {
    coll_wait *wait;
    double since;  /* when it began */
    double looked; /* when coll_patience_expired was last asked; or SINCE */
    double waited; /* s: until the last look that found nothing */
    int pauses;    /* since it began */
    int taken;     /* offers of the core in a row that somebody took */
    bool woken;    /* the last pause was a sleep */
    bool slept;    /* since it began */
    bool rung;     /* the doorbell ended the last sleep */
} coll_patience;

coll_patience coll_patience_begin(coll_wait *wait);

/* Passes the time between two looks that found nothing. */
void coll_patience_relax(coll_patience *patience);

void coll_patience_progress(coll_patience *patience);

/*
 * Returns whether it has waited longer than SECONDS; never for 0. To be asked before each pause. If
 * this process itself didn't run for a while (SIGSTOP, a debugger, a suspended host), the time
 * begins again: the others may have answered meanwhile.
 */
bool coll_patience_expired(coll_patience *patience, double seconds);

#endif
