#include "config.h"

#include "lib/wait.h"

#include "lib/error.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

/*
 * Unsuccessful tests before the next step. A test takes a fraction of a microsecond, so a waiter
 * with a core of its own has spun for about a tenth of a millisecond when it first offers the core
 * to others.
 */
enum { SPINS = 500, CROWDED_SPINS = 4, CROWDED_YIELDS = 16 };

/*
 * A sleep is an eighth of the time that was waited already, so that politeness adds no more than
 * that to any wait, within bounds: an idle process takes about 1 % of a core.
 */
static const double SLEEP_SHARE = 1.0 / 8, SHORTEST_SLEEP = 20e-6, LONGEST_SLEEP = 1e-3; /* s */

/* One wait without progress so far. */
typedef struct waiter {
    const coll_wait *wait;
    int tests;
    double since; /* when it began */
} waiter;

static void progress(waiter *patience) {
    patience->tests = 0;
    patience->since = PMPI_Wtime();
}

static waiter begin(const coll_wait *wait) {
    waiter patience = {.wait = wait};
    progress(&patience);
    return patience;
}

static bool expired(const waiter *patience) {
    double timeout = patience->wait->timeout;
    return timeout > 0 && PMPI_Wtime() - patience->since > timeout;
}

static void nap(const waiter *patience) {
    double sleep = (PMPI_Wtime() - patience->since) * SLEEP_SHARE;
    sleep = sleep < SHORTEST_SLEEP ? SHORTEST_SLEEP : sleep < LONGEST_SLEEP ? sleep : LONGEST_SLEEP;
    struct timespec time = {.tv_nsec = (long)(sleep * 1e9)};
    nanosleep(&time, NULL); /* a signal may cut it short: the next test comes earlier */
}

/* Passes the time between two tests. */
static void relax(waiter *patience) {
    bool crowded = patience->wait->crowded;
    if (patience->tests < (crowded ? CROWDED_SPINS : SPINS)) {
        patience->tests++;
        return;
    }
    if (!crowded || patience->tests++ < CROWDED_SPINS + CROWDED_YIELDS) {
        sched_yield();
        return;
    }
    patience->tests--; /* never wraps around */
    nap(patience);
}

/* The lowest peer above AFTER that a request still waits for; INT_MAX where there is none. */
static int next_silent(int after, int count, MPI_Request requests[], const int peers[]) {
    int next = INT_MAX;
    for (int i = 0; i < count; i++) {
        int done = 0;
        if (peers[i] > after && peers[i] < next &&
            PMPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
            next = peers[i];
    }
    return next;
}

/* The error of a wait that has expired: names the peers of the requests that are not complete. */
static int report(double seconds, int count, MPI_Request requests[], const int peers[]) {
    char who[64] = "every peer";
    int first = peers ? next_silent(-1, count, requests, peers) : INT_MAX;
    if (first != INT_MAX) {
        int more = 0;
        for (int peer = first; (peer = next_silent(peer, count, requests, peers)) != INT_MAX;)
            more++;
        if (more)
            snprintf(who, sizeof who, "rank %d (and %d more)", first, more);
        else
            snprintf(who, sizeof who, "rank %d", first);
    }
    return coll_error(MPI_ERR_OTHER,
                      "%s silent for %.1f s; see what keeps it, or raise COLL_TIMEOUT (seconds)",
                      who, seconds);
}

void coll_wait_init(coll_wait *wait, const coll_topo *topo, double timeout) {
    *wait = (coll_wait){.crowded = topo->crowded, .timeout = timeout};
}

/*
 * MPI_Testany, beginning with the request FIRST and going around, so that those in front do not
 * keep the others from being seen.
 */
static int test_any(int first, int count, MPI_Request requests[], int *index, int *done) {
    int code = PMPI_Testany(count - first, requests + first, index, done, MPI_STATUS_IGNORE);
    if (*index != MPI_UNDEFINED)
        *index += first;
    if (code != MPI_SUCCESS || first == 0 || (*done && *index != MPI_UNDEFINED))
        return code;

    bool none_active = *done;
    code = PMPI_Testany(first, requests, index, done, MPI_STATUS_IGNORE);
    *done = *done && (none_active || *index != MPI_UNDEFINED);
    return code;
}

int coll_wait_any(coll_wait *wait, int count, MPI_Request requests[], const int peers[],
                  int *index) {
    waiter patience = begin(wait);
    int first = wait->turn < count ? wait->turn : 0;
    for (;;) {
        int done = 0;
        *index = MPI_UNDEFINED;
        int code = test_any(first, count, requests, index, &done);
        if (code != MPI_SUCCESS)
            return code;
        if (done) {
            wait->turn = *index == MPI_UNDEFINED ? 0 : *index + 1;
            return MPI_SUCCESS;
        }
        if (expired(&patience))
            return report(wait->timeout, count, requests, peers);
        relax(&patience);
    }
}

/* MPI_Testsome for at most CHUNK requests, with the error of the request that has one. */
enum { CHUNK = 64 };

static int test_some(int count, MPI_Request requests[], int *completed) {
    int indices[CHUNK];
    MPI_Status statuses[CHUNK];
    int code = PMPI_Testsome(count, requests, completed, indices, statuses);
    if (code == MPI_SUCCESS)
        return code;
    int class = MPI_SUCCESS;
    PMPI_Error_class(code, &class);
    for (int i = 0; class == MPI_ERR_IN_STATUS && i < *completed; i++)
        if (statuses[i].MPI_ERROR != MPI_SUCCESS)
            return statuses[i].MPI_ERROR;
    return code;
}

/* Tests all requests; says whether one was active before and whether one is complete now. */
static int test_all(int count, MPI_Request requests[], bool *active, bool *moved) {
    *active = *moved = false;
    for (int from = 0; from < count; from += CHUNK) {
        int completed = 0;
        int size = count - from < CHUNK ? count - from : CHUNK;
        int code = test_some(size, requests + from, &completed);
        if (code != MPI_SUCCESS)
            return code;
        if (completed == MPI_UNDEFINED)
            continue;
        *active = true;
        *moved = *moved || completed > 0;
    }
    return MPI_SUCCESS;
}

int coll_wait_all(const coll_wait *wait, int count, MPI_Request requests[], const int peers[]) {
    waiter patience = begin(wait);
    for (;;) {
        bool active, moved;
        int code = test_all(count, requests, &active, &moved);
        if (code != MPI_SUCCESS || !active)
            return code;
        if (moved)
            progress(&patience);
        else if (expired(&patience))
            return report(wait->timeout, count, requests, peers);
        else
            relax(&patience);
    }
}

void coll_wait_abandon(int count, MPI_Request requests[]) {
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL) {
            PMPI_Cancel(&requests[i]);
            PMPI_Request_free(&requests[i]);
        }
}
