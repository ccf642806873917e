/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "app/clocks.h"

#include "app/agreement.h"
#include "lib/base/ticks.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>

double app_seconds(void) {
    return coll_monotonic();
}

void app_sleep(double seconds) {
    coll_sleep(seconds);
}

int app_wait_asleep(MPI_Request *request, double nap, double longest) {
    for (;; nap = nap < longest ? 2 * nap : nap) {
        int done, code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || done)
            return code;
        app_sleep(nap);
    }
}

/*
 * Each rank makes EXCHANGES exchanges with rank 0. If these are slow (another site), the rank stops
 * after LONGEST, but makes at least FEWEST exchanges.
 */
enum { EXCHANGES = 20, FEWEST = 3, TAG = 7, TAG_TURN };
static const double LONGEST = 50e-3; /* s */

/* Requests to rank 0: one more exchange follows, or this is the last one. */
enum { MORE, LAST };

/*
 * Seconds that waiting ranks sleep between tests. Awake, they would take the processor from the two
 * ranks that exchange messages, and round trips would include the scheduler's time slices.
 */
static const double NAP = 1e-3;

/*
 * Seconds. app_clock_wait sleeps no shorter than this, and only until this long before the date,
 * because a sleep may end late.
 */
static const double shortest_sleep = 200e-6;

/* Runs on rank 0: gives RANK its turn, and answers each of its requests with the time. */
static int serve_time(int rank, MPI_Comm comm) {
    char turn = 0;
    char question = MORE;
    int code = MPI_Send(&turn, 1, MPI_CHAR, rank, TAG_TURN, comm);
    while (question == MORE && code == MPI_SUCCESS) {
        code = MPI_Recv(&question, 1, MPI_CHAR, rank, TAG, comm, MPI_STATUS_IGNORE);
        double now = app_seconds();
        if (code == MPI_SUCCESS)
            code = MPI_Send(&now, 1, MPI_DOUBLE, rank, TAG, comm);
    }
    return code;
}

/*
 * Measures this rank's offset; half the shortest round trip bounds its error. If 0 is within this
 * bound, the offset is set to 0. Clocks of separate machines count from their boots and differ by
 * much more. Emulated hosts share one clock, but would seem to have different clocks if the two
 * directions of an emulated wide-area link had different delays.
 */
static int measure_offset(app_clock *clock, MPI_Comm comm) {
    double shortest = -1;
    char turn, question = MORE;
    MPI_Request request;
    int code = MPI_Irecv(&turn, 1, MPI_CHAR, 0, TAG_TURN, comm, &request);
    if (code == MPI_SUCCESS)
        code = app_wait_asleep(&request, NAP, NAP);
    if (code != MPI_SUCCESS)
        return code;
    double began = app_seconds();
    for (int i = 1; question == MORE; i++) {
        if (i == EXCHANGES || (i >= FEWEST && app_seconds() - began > LONGEST))
            question = LAST;
        double start = app_seconds(), theirs;
        code = MPI_Sendrecv(&question, 1, MPI_CHAR, 0, TAG, &theirs, 1, MPI_DOUBLE, 0, TAG, comm,
                            MPI_STATUS_IGNORE);
        double end = app_seconds();
        if (code != MPI_SUCCESS)
            return code;
        if (shortest >= 0 && end - start >= shortest)
            continue;
        shortest = end - start;
        clock->offset = theirs - (start + end) / 2;
    }
    clock->uncertainty = shortest / 2;
    if (fabs(clock->offset) <= clock->uncertainty)
        clock->offset = 0;
    return MPI_SUCCESS;
}

/* Sets *SHARES to whether this rank is on rank 0's node. */
static int shares_node(MPI_Comm comm, bool *shares) {
    MPI_Comm node;
    int rank = app_rank(comm), lowest;
    int code = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    *shares = lowest == 0;
    return code;
}

int app_clock_init(app_clock *clock, MPI_Comm comm) {
    int rank = app_rank(comm), ranks = app_ranks(comm);
    bool shares = false;
    *clock = (app_clock){0};
    int code = shares_node(comm, &shares);
    for (int other = 1; rank == 0 && other < ranks && code == MPI_SUCCESS; other++)
        code = serve_time(other, comm);
    if (rank != 0 && code == MPI_SUCCESS)
        code = measure_offset(clock, comm);
    if (code != MPI_SUCCESS)
        return code;
    if (shares)
        *clock = (app_clock){0};
    MPI_Request request;
    code =
        MPI_Iallreduce(MPI_IN_PLACE, &clock->uncertainty, 1, MPI_DOUBLE, MPI_MAX, comm, &request);
    return code == MPI_SUCCESS ? app_wait_asleep(&request, NAP, NAP) : code;
}

double app_clock_now(const app_clock *clock) {
    return app_seconds() + clock->offset;
}

void app_clock_wait(const app_clock *clock, double date) {
    for (double left; (left = date - app_clock_now(clock)) > 0;) {
        if (left < 2 * shortest_sleep) {
            sched_yield();
            continue;
        }
        app_sleep(left - shortest_sleep);
    }
}

int app_barrier_asleep(MPI_Comm comm, double nap, double longest) {
    MPI_Request request;
    const int code = MPI_Ibarrier(comm, &request);
    return code == MPI_SUCCESS ? app_wait_asleep(&request, nap, longest) : code;
}
