/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/doctor/pair_test.h"

#include "app/agreement.h"
#include "app/clocks.h"
#include "app/connections.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

/*
 * A stream lasts for at least SECONDS and LEAST messages of BYTES. At most WINDOW of these messages
 * are not acknowledged, so that a slow link holds a few tenths of a second of data at most. The
 * first BURST messages don't count: a link lets them pass faster than later messages.
 */
enum { TRIPS = 15, BYTES = 16 << 10, LEAST = 20, WINDOW = 12, BURST = 6 };
static const double SECONDS = 0.06;
enum { TAG_TRIP = 21, TAG_DATA, TAG_LAST, TAG_TAKEN };

static double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns for how long this thread could have run but waited for a processor, in s; 0: unknown. */
static double waited_for_processor(void) {
    long long ran = 0, waited = 0; /* ns */
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (!file)
        return 0;
    const bool known = fscanf(file, "%lld %lld", &ran, &waited) == 2;
    fclose(file);
    return known ? 1e-9 * (double)waited : 0;
}

typedef struct timer {
    double began, waited;
} timer;

static timer start_timer(void) {
    return (timer){app_seconds(), waited_for_processor()};
}

static double share_of_waiting(const timer *t) {
    return (waited_for_processor() - t->waited) / (app_seconds() - t->began);
}

/* The first round trip of each rank does not count, since it may have to make the connection. */
static int measure_latency(int peer, MPI_Comm comm, doctor_half *half) {
    const bool leads = app_rank(comm) < peer;
    double own = 0, other = 0;
    half->latency = INFINITY;
    for (int trip = 0; trip <= 2 * TRIPS + 1; trip++) {
        const bool asks = leads == (trip % 2 == 0); /* both ranks ask in turn */
        const double began = app_seconds();
        int code = MPI_SUCCESS;
        own = clock_now();
        if (asks)
            code = MPI_Send(&own, 1, MPI_DOUBLE, peer, TAG_TRIP, comm);
        if (code == MPI_SUCCESS)
            code = MPI_Recv(&other, 1, MPI_DOUBLE, peer, TAG_TRIP, comm, MPI_STATUS_IGNORE);
        own = clock_now();
        if (code == MPI_SUCCESS && !asks)
            code = MPI_Send(&own, 1, MPI_DOUBLE, peer, TAG_TRIP, comm);
        if (code != MPI_SUCCESS)
            return code;
        const double latency = (app_seconds() - began) / 2;
        if (trip < 2 || !asks || latency >= half->latency)
            continue;
        half->latency = latency;
        half->ahead = other + latency - own;
    }
    return MPI_SUCCESS;
}

static int send_stream(int peer, MPI_Comm comm) {
    static char data[BYTES];
    const double end = app_seconds() + SECONDS;
    int code = MPI_SUCCESS, count = 0, taken = 0;
    for (bool last = false; !last && code == MPI_SUCCESS; count++) {
        last = count >= LEAST && app_seconds() > end;
        code = MPI_Send(data, BYTES, MPI_BYTE, peer, last ? TAG_LAST : TAG_DATA, comm);
        for (; code == MPI_SUCCESS && taken + (last ? 0 : WINDOW) <= count; taken++)
            code = MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG_TAKEN, comm, MPI_STATUS_IGNORE);
    }
    return code;
}

static int receive_stream(int peer, MPI_Comm comm, double *rate) {
    static char data[BYTES];
    double began = 0;
    int code = MPI_SUCCESS, count = 0;
    for (MPI_Status status = {.MPI_TAG = TAG_DATA}; status.MPI_TAG == TAG_DATA; count++) {
        code = MPI_Recv(data, BYTES, MPI_BYTE, peer, MPI_ANY_TAG, comm, &status);
        if (count == BURST)
            began = app_seconds();
        if (code == MPI_SUCCESS)
            code = MPI_Send(NULL, 0, MPI_BYTE, peer, TAG_TAKEN, comm);
        if (code != MPI_SUCCESS)
            return code;
    }
    *rate = (count - 1 - BURST) * (double)BYTES / (app_seconds() - began);
    return code;
}

typedef struct addresses {
    uint32_t of[DOCTOR_INTERFACES];
} addresses;

/* Adds SIGN times the segments sent, and sent again, to the host with the addresses THERE. */
static void count_segments(const addresses *there, int sign, doctor_half *half) {
    app_connection list[APP_CONNECTIONS];
    const int count = app_connections_read(list);
    for (int c = 0; c < count; c++)
        for (int i = 0; i < DOCTOR_INTERFACES; i++) {
            if (there->of[i] == 0 || list[c].peer != there->of[i])
                continue;
            half->sent += sign * (double)list[c].sent;
            half->resent += sign * (double)list[c].resent;
        }
}

static int exchange_addresses(int peer, MPI_Comm comm, const doctor_facts *facts,
                              addresses *there) {
    addresses here = {{0}};
    for (int i = 0; i < facts->interface_count; i++)
        here.of[i] = facts->interfaces[i].address;
    return MPI_Sendrecv(&here, (int)sizeof here, MPI_BYTE, peer, TAG_TRIP, there,
                        (int)sizeof *there, MPI_BYTE, peer, TAG_TRIP, comm, MPI_STATUS_IGNORE);
}

int doctor_pair_test(int peer, MPI_Comm comm, const doctor_facts *facts, doctor_half *half) {
    const bool leads = app_rank(comm) < peer;
    addresses there;
    *half = (doctor_half){.peer = peer};
    int code = exchange_addresses(peer, comm, facts, &there);
    count_segments(&there, -1, half);
    timer time = start_timer();
    if (code == MPI_SUCCESS)
        code = measure_latency(peer, comm, half);
    half->held_up.latency = share_of_waiting(&time);
    time = start_timer();
    for (int direction = 0; direction < 2 && code == MPI_SUCCESS; direction++)
        code = leads == (direction == 0) ? send_stream(peer, comm)
                                         : receive_stream(peer, comm, &half->rate);
    half->held_up.rate = share_of_waiting(&time);
    count_segments(&there, 1, half);
    return code;
}
