/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/pmpi/account.h"

#include "lib/base/c_locale.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>

_Atomic bool coll_account_on;

/* A time, or an elapsed time: wall-clock seconds, and this thread's processor seconds. */
typedef struct moment {
    double wall, processor;
} moment;

/*
 * Data of the measured thread, the only one in which COUNTS is true. INSIDE is the time in calls;
 * SECONDS is its wall-clock part, by the kind of the call.
 */
static _Thread_local bool counts;
static moment start, entered, pause_began, paused, inside;
static double seconds[COLL_ACCOUNT_neither], calls[COLL_ACCOUNT_neither], served;
static int depth;

/* Requests of nonblocking collectives, in a hash table by handle. */
enum { NOTED = 1024 };
static MPI_Request noted[NOTED];

static moment now(void) {
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (moment){PMPI_Wtime(), (double)time.tv_sec + (double)time.tv_nsec * 1e-9};
}

/* Adds the time since BEGAN to SUM. Returns the wall-clock seconds since BEGAN. */
static double add_since(moment *sum, const moment *began) {
    moment ended = now();
    sum->wall += ended.wall - began->wall;
    sum->processor += ended.processor - began->processor;
    return ended.wall - began->wall;
}

void coll_account_start(void) {
    for (int i = 0; i < NOTED; i++)
        noted[i] = MPI_REQUEST_NULL;
    coll_account_on = counts = true;
    start = now();
}

void coll_account_begin(void) {
    if (counts && depth++ == 0)
        entered = now();
}

void coll_account_end(coll_account_kind kind) {
    if (!counts || --depth > 0)
        return;
    seconds[kind] += add_since(&inside, &entered);
    calls[kind]++;
}

void coll_account_pause(void) {
    if (!counts || !coll_account_on)
        return;
    coll_account_on = false;
    pause_began = now();
}

void coll_account_resume(void) {
    if (!counts || coll_account_on)
        return;
    coll_account_on = true;
    add_since(&paused, &pause_began);
}

void coll_account_one_served(void) {
    if (counts)
        served++;
}

/* Returns the slot for REQUEST. Handles are addresses at least a cache line apart, or small
 * numbers, so both the lowest bits and those above a cache line select the slot. */
static MPI_Request *place_of(MPI_Request request) {
    uintptr_t handle = (uintptr_t)request;
    return &noted[(handle ^ handle >> 6) % NOTED];
}

void coll_account_note(MPI_Request request) {
    if (counts)
        *place_of(request) = request;
}

coll_account_kind coll_account_look(int count, const MPI_Request requests[], bool completes) {
    coll_account_kind kind = COLL_ACCOUNT_point;
    for (int i = 0; counts && requests && i < count; i++) {
        MPI_Request *place = place_of(requests[i]);
        if (requests[i] == MPI_REQUEST_NULL || *place != requests[i])
            continue;
        kind = COLL_ACCOUNT_started;
        if (completes) /* another request may get the handle next */
            *place = MPI_REQUEST_NULL;
    }
    return kind;
}

static double of_collectives(const double figure[]) {
    return figure[COLL_ACCOUNT_collective] + figure[COLL_ACCOUNT_served] +
           figure[COLL_ACCOUNT_started];
}

int coll_account_report(MPI_Comm world, int dcps) {
    if (!counts)
        return MPI_SUCCESS;
    coll_account_resume();
    moment all = {0, 0};
    add_since(&all, &start);
    double mine[] = {all.wall - paused.wall - inside.wall,
                     of_collectives(seconds),
                     seconds[COLL_ACCOUNT_point],
                     of_collectives(calls),
                     served,
                     calls[COLL_ACCOUNT_point],
                     seconds[COLL_ACCOUNT_served],
                     seconds[COLL_ACCOUNT_started],
                     all.processor - paused.processor - inside.processor};
    enum { FIGURES = sizeof mine / sizeof *mine };
    double sum[FIGURES];
    int rank, ranks;
    int code = PMPI_Comm_rank(world, &rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(world, &ranks);
    if (code == MPI_SUCCESS)
        code = PMPI_Reduce(mine, sum, FIGURES, MPI_DOUBLE, MPI_SUM, 0, world);
    if (code != MPI_SUCCESS || rank != 0)
        return code;
    for (int i = 0; i < FIGURES; i++)
        sum[i] /= ranks;
    coll_c_locale_print(
        stderr,
        "coll: account ranks=%d dcps=%d Tcomp=%.6f Tcoll=%.6f Tpoint=%.6f collectives=%.1f "
        "served=%.1f points=%.1f Tserved=%.6f Tstarted=%.6f Tcpu=%.6f\n",
        ranks, dcps, sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7], sum[8]);
    return MPI_SUCCESS;
}
