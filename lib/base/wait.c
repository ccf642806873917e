/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/wait.h"

#include "lib/base/error.h"
#include "lib/base/socket_wakeup.h"

#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Seconds that a wait spins on a core of its own before it yields. */
static const double SPIN = 100e-6;

/*
 * On a shared core the first test that finds nothing is followed by a yield, later ones by sleeps.
 * The first sleep is half the average duration of recent waits, which saves most of the tests in a
 * steady stream of segments. Each later sleep is an eighth of the time waited so far, so that it
 * delays the end of the wait by at most that share; an idle process then takes about 1 % of a core.
 * If recent waits were brief, the wait yields for up to twice their average first, because a sleep
 * would take longer than the wait.
 */
static const double BRIEF = 100e-6;
static const double FIRST_SLEEP_SHARE = 1.0 / 2, SLEEP_SHARE = 1.0 / 8;
static const double SHORTEST_SLEEP = 20e-6, LONGEST_SLEEP = 1e-3;

/*
 * After wake-ups have ended this many consecutive waits, sleeps rely on wake-ups: they are as long
 * as the time waited so far, up to 10 ms. A wait that no wake-up ends is late once, and then the
 * shorter sleeps apply again.
 */
enum { RELIABLE = 8 };
static const double HEARD_SLEEP_SHARE = 1, LONGEST_HEARD_SLEEP = 10e-3;

/*
 * After `silence` seconds of a wait, sleeps delay its end by at most this share of the time waited;
 * a process in the longest sleeps takes about 0.1 % of a core.
 */
static const double SILENT_SLEEP_SHARE = 1.0 / 100, LONGEST_SILENT_SLEEP = 10e-3;

/*
 * A process whose tests are further apart than this many seconds was stopped: no pause is longer
 * than 10 ms, and even with many processes per core each of them runs several times a second.
 */
static const double STOPPED = 0.5;

/* Weight of the last wait in the average duration of waits. */
static const double LAST_WAIT_SHARE = 1.0 / 4;

/*
 * If a yield takes longer than TAKEN seconds, another process has run. After TAKEN_OFTEN such
 * yields in a row the core counts as shared for SHARED seconds. A yield returns sooner if no other
 * process wants the core, and interrupts are too rare to delay so many yields in a row.
 */
static const double TAKEN = 1.5e-6, SHARED = 1;
enum { TAKEN_OFTEN = 8 };

/*
 * The awaited event happened at an unknown time after the last test that found nothing. Counting
 * the sleep since that test would overestimate the wait, which would lengthen the next sleep, and
 * so on.
 */
void coll_backoff_progress(coll_backoff *backoff) {
    coll_wait *wait = backoff->wait;
    if (backoff->pauses)
        wait->usual += (backoff->waited - wait->usual) * LAST_WAIT_SHARE;
    if (backoff->slept)
        wait->early_wakeups = !backoff->woken_early            ? 0
                              : wait->early_wakeups < RELIABLE ? wait->early_wakeups + 1
                                                               : RELIABLE;
    if (backoff->pauses)
        coll_wakeup_announce(false);
    backoff->slept = false;
    backoff->since = backoff->looked = PMPI_Wtime();
    backoff->pauses = 0;
}

coll_backoff coll_backoff_begin(coll_wait *wait) {
    double now = PMPI_Wtime();
    return (coll_backoff){.wait = wait, .since = now, .looked = now};
}

bool coll_backoff_expired(coll_backoff *backoff, double seconds) {
    if (seconds <= 0)
        return false;
    double now = PMPI_Wtime();
    if (now - backoff->looked > STOPPED)
        backoff->since = now;
    backoff->looked = now;
    return now - backoff->since > seconds;
}

static void sleep_for(coll_backoff *backoff, double longest, double sleep) {
    sleep = sleep < SHORTEST_SLEEP ? SHORTEST_SLEEP : sleep < longest ? sleep : longest;
    backoff->woken_early = coll_wakeup_sleep(sleep);
    backoff->woken = backoff->slept = true;
}

/* Yields, and notices whether another process ran. */
static void yield_core(coll_backoff *backoff, double now) {
    sched_yield();
    double back = PMPI_Wtime();
    backoff->taken = back - now > TAKEN ? backoff->taken + 1 : 0;
    if (backoff->taken >= TAKEN_OFTEN)
        backoff->wait->shared_until = back + SHARED;
}

void (*_Atomic coll_wait_meanwhile)(void);

/*
 * Each sleep is followed by two tests: Open MPI's tests look at the requests first and poll the
 * network afterwards, so only the second test sees what arrived during the sleep.
 */
void coll_backoff_relax(coll_backoff *backoff) {
    const coll_wait *wait = backoff->wait;
    void (*meanwhile)(void) = coll_wait_meanwhile;
    if (meanwhile)
        meanwhile();
    if (backoff->woken) {
        backoff->woken = false;
        return;
    }
    double now = PMPI_Wtime(), waited = backoff->waited = now - backoff->since;
    int pause = backoff->pauses++;
    if (wait->silence > 0 && waited > wait->silence) {
        coll_wakeup_announce(true);
        sleep_for(backoff, LONGEST_SILENT_SLEEP, waited * SILENT_SLEEP_SHARE);
        return;
    }
    if (!coll_wait_is_polite(wait) &&
        (wait->manner != COLL_WAIT_AUTO || now >= wait->shared_until)) {
        if (waited > SPIN)
            yield_core(backoff, now);
        return;
    }
    coll_wakeup_announce(true);
    bool reliable = wait->early_wakeups == RELIABLE;
    double longest = reliable                  ? LONGEST_HEARD_SLEEP
                     : wait->longest_sleep > 0 ? wait->longest_sleep
                                               : LONGEST_SLEEP;
    bool brief = wait->usual < BRIEF && waited < 2 * wait->usual + SHORTEST_SLEEP;
    if (brief || pause == 0)
        yield_core(backoff, now);
    else if (pause == 1)
        sleep_for(backoff, longest, wait->usual * FIRST_SLEEP_SHARE - waited);
    else
        sleep_for(backoff, longest, waited * (reliable ? HEARD_SLEEP_SHARE : SLEEP_SHARE));
}

/*
 * Returns the lowest peer above AFTER that an incomplete request depends on; INT_MAX if there is
 * none.
 */
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

int coll_wait_silent(double seconds, int first, int more) {
    char who[64] = "every peer";
    if (first >= 0 && more > 0)
        snprintf(who, sizeof who, "rank %d (and %d more)", first, more);
    else if (first >= 0)
        snprintf(who, sizeof who, "rank %d", first);
    return coll_error(MPI_ERR_OTHER,
                      "%s silent for %.1f s; see what keeps it, or raise COLL_TIMEOUT (seconds)",
                      who, seconds);
}

int coll_wait_report(double seconds, int count, MPI_Request requests[], const int peers[]) {
    int first = peers ? next_silent(-1, count, requests, peers) : INT_MAX, more = 0;
    if (first == INT_MAX)
        return coll_wait_silent(seconds, -1, 0);
    for (int peer = first; (peer = next_silent(peer, count, requests, peers)) != INT_MAX;)
        more++;
    return coll_wait_silent(seconds, first, more);
}

const char *const coll_wait_manners[COLL_WAIT_MANNERS + 1] = {[COLL_WAIT_AUTO] = "auto",
                                                              [COLL_WAIT_POLITE] = "polite",
                                                              [COLL_WAIT_SPIN] = "spin",
                                                              [COLL_WAIT_BLOCK] = "block"};

/*
 * Returns whether Open MPI yields when idle: mpirun sets this variable if it sees more processes
 * than cores, or the user does. MPI_T would say so too, but the query takes 30 ms of a core because
 * it loads all of Open MPI's components.
 */
static bool mpi_yields(void) {
    const char *yields = getenv("OMPI_MCA_mpi_yield_when_idle");
    return yields && *yields && strcmp(yields, "0") != 0 && strcasecmp(yields, "false") != 0;
}

void coll_wait_init(coll_wait *wait, bool crowded, coll_wait_manner manner, double timeout) {
    *wait = (coll_wait){.manner = manner, .crowded = crowded || mpi_yields(), .timeout = timeout};
}

/*
 * Calls MPI_Testany, beginning with request FIRST and wrapping around, so that the first requests
 * do not starve the others.
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

/* Waits until any of the requests completes, at most SECONDS (0: no limit). Sets *LATE to whether
 * none completed in time. */
static int wait_any_until(coll_wait *wait, double seconds, int count, MPI_Request requests[],
                          int *index, bool *late) {
    if (wait->manner == COLL_WAIT_BLOCK && seconds == 0) {
        *late = false;
        return PMPI_Waitany(count, requests, index, MPI_STATUS_IGNORE);
    }
    coll_backoff backoff = coll_backoff_begin(wait);
    *late = false;
    int first = wait->turn < count ? wait->turn : 0;
    for (;;) {
        int done = 0;
        *index = MPI_UNDEFINED;
        int code = test_any(first, count, requests, index, &done);
        if (code != MPI_SUCCESS)
            return code;
        if (done) {
            coll_backoff_progress(&backoff);
            wait->turn = *index == MPI_UNDEFINED ? 0 : *index + 1;
            return MPI_SUCCESS;
        }
        *late = coll_backoff_expired(&backoff, seconds);
        if (*late)
            return MPI_SUCCESS;
        coll_backoff_relax(&backoff);
    }
}

int coll_wait_error(int code, int completed, const MPI_Status statuses[]) {
    int class = code == MPI_SUCCESS ? MPI_SUCCESS : coll_error_class(code);
    for (int i = 0; class == MPI_ERR_IN_STATUS && i < completed; i++)
        if (statuses[i].MPI_ERROR != MPI_SUCCESS)
            return statuses[i].MPI_ERROR;
    return code;
}

int coll_wait_some(coll_wait *wait, int count, MPI_Request requests[], const int peers[],
                   int *completed, int indices[], MPI_Status statuses[]) {
    if (wait->manner == COLL_WAIT_BLOCK) { /* MPI_Waitsome polls, which takes simulated time */
        int code = PMPI_Waitany(count, requests, indices, statuses);
        *completed = indices[0] != MPI_UNDEFINED;
        return code;
    }
    coll_backoff backoff = coll_backoff_begin(wait);
    for (;;) {
        int code = PMPI_Testsome(count, requests, completed, indices, statuses);
        if (code != MPI_SUCCESS)
            return coll_wait_error(code, *completed, statuses);
        if (*completed == MPI_UNDEFINED)
            *completed = 0;
        else if (*completed == 0 && !coll_backoff_expired(&backoff, wait->timeout)) {
            coll_backoff_relax(&backoff);
            continue;
        } else if (*completed == 0)
            return coll_wait_report(wait->timeout, count, requests, peers);
        coll_backoff_progress(&backoff);
        return MPI_SUCCESS;
    }
}

int coll_wait_any(coll_wait *wait, int count, MPI_Request requests[], const int peers[],
                  int *index) {
    bool late;
    int code = wait_any_until(wait, wait->timeout, count, requests, index, &late);
    return late ? coll_wait_report(wait->timeout, count, requests, peers) : code;
}

int coll_wait_any_for(coll_wait *wait, double seconds, int count, MPI_Request requests[],
                      int *index) {
    bool late;
    return wait_any_until(wait, seconds, count, requests, index, &late);
}

/*
 * Tests all requests. Sets *ACTIVE to whether any was active and *MOVED to whether any completed
 * now.
 */
static int test_all(int count, MPI_Request requests[], bool *active, bool *moved) {
    enum { AT_ONCE = 64 };
    int indices[AT_ONCE];
    MPI_Status statuses[AT_ONCE];
    *active = *moved = false;
    for (int from = 0; from < count; from += AT_ONCE) {
        int completed = 0;
        int size = count - from < AT_ONCE ? count - from : AT_ONCE;
        int code = PMPI_Testsome(size, requests + from, &completed, indices, statuses);
        if (code != MPI_SUCCESS)
            return coll_wait_error(code, completed, statuses);
        if (completed == MPI_UNDEFINED)
            continue;
        *active = true;
        *moved = *moved || completed > 0;
    }
    return MPI_SUCCESS;
}

int coll_wait_all(coll_wait *wait, int count, MPI_Request requests[], const int peers[]) {
    if (wait->manner == COLL_WAIT_BLOCK)
        return PMPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    coll_backoff backoff = coll_backoff_begin(wait);
    for (;;) {
        bool active, moved;
        int code = test_all(count, requests, &active, &moved);
        if (code != MPI_SUCCESS || !active)
            return code;
        if (moved)
            coll_backoff_progress(&backoff);
        else if (coll_backoff_expired(&backoff, wait->timeout))
            return coll_wait_report(wait->timeout, count, requests, peers);
        else
            coll_backoff_relax(&backoff);
    }
}

int coll_wait_late(const char *what, double seconds) {
    return coll_error(MPI_ERR_OTHER,
                      "%s did not end in %.1f s: some rank is late or gone; raise COLL_TIMEOUT "
                      "(seconds) if that is too short",
                      what, seconds);
}

int coll_wait_native(coll_wait *wait, MPI_Request *request, const char *what) {
    int index;
    bool late;
    int code = wait_any_until(wait, wait->timeout, 1, request, &index, &late);
    return late ? coll_wait_late(what, wait->timeout) : code;
}

void coll_wait_abandon(int count, MPI_Request requests[]) {
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL) {
            PMPI_Cancel(&requests[i]);
            PMPI_Request_free(&requests[i]);
        }
}

/* List of the memory left to abandoned messages; never freed. */
typedef struct left {
    void *memory;
    struct left *next;
} left;

static _Atomic(left *) all_left;

void *coll_wait_leave(void *memory) {
    left *one = memory ? malloc(sizeof *one) : NULL;
    if (one) {
        *one = (left){.memory = memory, .next = all_left};
        while (!atomic_compare_exchange_weak(&all_left, &one->next, one))
            ;
    }
    return NULL;
}
