/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/preloaded.h"

#include "lib/base/abort.h"
#include "lib/base/c_locale.h"
#include "lib/base/ticks.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DEFAULT_TIMEOUT = 30;
static const double SHORTEST_SLEEP = 10e-6, LONGEST_SLEEP = 1e-3;

/* Ignores an invalid COLL_TIMEOUT, which is reported later, when all ranks are there. */
static double read_timeout(void) {
    const char *text = getenv("COLL_TIMEOUT");
    double seconds;
    return text && coll_c_locale_number(text, &seconds) && seconds >= 0 ? seconds : DEFAULT_TIMEOUT;
}

/*
 * Sets *ARRIVED to whether REQUEST completes within SECONDS (0: no limit). Counts only the sleep
 * times that it asks for, so that a process that was stopped doesn't blame other ranks.
 */
static int wait_for(MPI_Request *request, double seconds, bool *arrived) {
    double slept = 0, sleep = SHORTEST_SLEEP;
    int done = 0;
    int code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    while (code == MPI_SUCCESS && !done && (seconds == 0 || slept < seconds)) {
        coll_sleep(sleep);
        slept += sleep;
        sleep = sleep * 2 < LONGEST_SLEEP ? sleep * 2 : LONGEST_SLEEP;
        code = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
    *arrived = done;
    return code;
}

static void report_missing_library(const char *library, int rank, double seconds) {
    coll_c_locale_print(
        stderr,
        "%.*s: rank %d runs without %s: it sent nothing for %g s after MPI_Init; give "
        "every program of the job the same LD_PRELOAD, as coll-run does\n",
        (int)strcspn(library, "."), library, rank, library, seconds);
}

/*
 * Sends an empty message to rank TO and waits SECONDS for one from rank FROM. The send may stay
 * incomplete if TO runs without the library and makes no MPI calls; the rank after TO reports that.
 */
static int exchange_with_neighbours(const char *library, int tag, int to, int from,
                                    double seconds) {
    MPI_Request sent, received;
    bool arrived = false;
    int code = PMPI_Irecv(NULL, 0, MPI_BYTE, from, tag, MPI_COMM_WORLD, &received);
    if (code == MPI_SUCCESS)
        code = PMPI_Isend(NULL, 0, MPI_BYTE, to, tag, MPI_COMM_WORLD, &sent);
    if (code == MPI_SUCCESS)
        code = wait_for(&received, seconds, &arrived);
    if (code == MPI_SUCCESS && !arrived) {
        report_missing_library(library, from, seconds);
        coll_abort();
    }
    return code == MPI_SUCCESS ? wait_for(&sent, 0, &arrived) : code;
}

/*
 * Dissemination: after the round of DISTANCE a rank has heard, directly or indirectly, from the 2 *
 * DISTANCE - 1 ranks before it.
 */
int coll_preloaded_barrier(const char *library, int tag) {
    int rank, ranks;
    int code = PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int distance = 1; code == MPI_SUCCESS && distance < ranks; distance *= 2) {
        int to = (rank + distance) % ranks, from = (rank - distance + ranks) % ranks;
        /*
         * After the first round, wait without limit: a rank whose neighbour is missing aborts the
         * job.
         */
        code = exchange_with_neighbours(library, tag, to, from, distance == 1 ? read_timeout() : 0);
    }
    return code;
}
