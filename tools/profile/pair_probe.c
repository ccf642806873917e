/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/profile/pair_probe.h"

#include "app/clocks.h"
#include "app/stats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

const int probe_size[PROBE_SIZES] = {1,       64,       256,      1 << 10,  2 << 10,   4 << 10,
                                     8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10};

enum {
    TAG_DEMAND = 11,
    TAG_DATA,
    WINDOW = 16,        /* messages of a stream that are under way */
    STREAM = 384 << 10, /* bytes of a stream; but a stream has at least LEAST_MESSAGES and at most
                           MOST_MESSAGES messages */
    LEAST_MESSAGES = 2 * WINDOW,
    MOST_MESSAGES = 256,
    LONGEST_STREAMED = 32 << 10, /* bytes; for larger messages, only the wire limits a stream */
    LONGEST_SPRAYED = 16 << 10, /* bytes; SPRAYED such messages surely fit into a socket's buffer */
    SPRAYED = 4,                /* messages that disturb a computation */
    MOST_SAMPLES = 9,           /* of one figure at one size in one round */
    TRIES = 3                   /* of a measurement during which the kernel preempts this process */
};

/* The server's task with COUNT messages of BYTES each. */
typedef enum task {
    ECHO,       /* returns each message */
    TAKE,       /* receives them */
    GIVE,       /* sends one for each empty message that it receives */
    SPRAY,      /* sends all after a pause */
    STREAM_ALL, /* sends all, with a window of messages under way */
    STOP        /* ends */
} task;

typedef struct demand {
    task task;
    int bytes, count;
} demand;

/*
 * A round takes as many samples of a figure at a size as fit into this time, but at least one and
 * at most MOST_SAMPLES. It takes only one sample of PROBE_ARRIVAL and of PROBE_GAP; the first round
 * takes only one of PROBE_MESSAGE, too; s.
 */
static const double BATCH = 2e-3;

/*
 * If half a round trip takes longer than this, preemptions are not a reason to measure again: they
 * are then hard to avoid, and short in comparison; s.
 */
static const double LONG = 5e-3;

/* A message is taken to have arrived this long after its expected time of arrival; s. */
static const double SLACK = 100e-6;

/*
 * The time at the end of a pause that is spent awake, since a processor that has just woken up is
 * slow; s.
 */
static const double AWAKE = 500e-6;

typedef struct link {
    int peer;
    MPI_Comm comm;
    double per_byte; /* s: the time of a byte on the wire; 0 until it is measured */
    char *buffer;    /* WINDOW messages of LONGEST_STREAMED bytes, more than the largest size */
} link;

static int make_buffer(link *l) {
    l->buffer = calloc(WINDOW, LONGEST_STREAMED);
    return l->buffer ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int send_demand(const link *l, task kind, int bytes, int count) {
    demand d = {kind, bytes, count};
    return MPI_Send(&d, (int)sizeof d, MPI_BYTE, l->peer, TAG_DEMAND, l->comm);
}

static int send_data(const link *l, int bytes) {
    return MPI_Send(l->buffer, bytes, MPI_BYTE, l->peer, TAG_DATA, l->comm);
}

static int receive_data(const link *l, int bytes) {
    return MPI_Recv(l->buffer, bytes, MPI_BYTE, l->peer, TAG_DATA, l->comm, MPI_STATUS_IGNORE);
}

/* Waits for SECONDS without calls to MPI, asleep at first and awake at the end. */
static void pause_without_mpi(double seconds) {
    double end = MPI_Wtime() + seconds, nap = seconds - AWAKE;
    if (nap > 0)
        app_sleep(nap);
    while (MPI_Wtime() < end)
        continue;
}

/*
 * Waits for as long as BYTES need on the wire. Links may pass a burst faster than their
 * sustained rate, but then need time to recover, and each sample must find them idle.
 */
static void wait_for_idle_links(const link *l, int bytes) {
    pause_without_mpi(bytes * l->per_byte);
}

/* --- One sample of each figure; TRIP is half a round trip of a message of BYTES, in seconds --- */

static int sample_message(const link *l, int bytes, double *seconds) {
    wait_for_idle_links(l, bytes);
    double start = MPI_Wtime();
    int code = send_data(l, bytes);
    if (code == MPI_SUCCESS)
        code = receive_data(l, bytes);
    *seconds = (MPI_Wtime() - start) / 2;
    return code;
}

/*
 * Tests *REQUEST until it is complete, with pauses outside MPI. Adds the time spent in the tests to
 * *SECONDS.
 */
static int finish_and_time_tests(MPI_Request *request, double trip, double *seconds) {
    int code = MPI_SUCCESS;
    for (int done = 0; !done && code == MPI_SUCCESS;) {
        double start = MPI_Wtime();
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        *seconds += MPI_Wtime() - start;
        if (!done)
            pause_without_mpi(trip / 4);
    }
    return code;
}

static int sample_send(const link *l, int bytes, double trip, double *seconds) {
    MPI_Request request;
    wait_for_idle_links(l, bytes);
    double start = MPI_Wtime();
    int code = MPI_Isend(l->buffer, bytes, MPI_BYTE, l->peer, TAG_DATA, l->comm, &request);
    *seconds = MPI_Wtime() - start;
    if (code == MPI_SUCCESS)
        code = finish_and_time_tests(&request, trip, seconds);
    pause_without_mpi(trip + SLACK); /* so that the next message finds the network idle */
    return code;
}

static int sample_receive(const link *l, int bytes, double trip, double *seconds) {
    MPI_Request request;
    wait_for_idle_links(l, bytes);
    int code = send_data(l, 0);
    pause_without_mpi(2 * trip + SLACK);
    double start = MPI_Wtime();
    if (code == MPI_SUCCESS)
        code = MPI_Irecv(l->buffer, bytes, MPI_BYTE, l->peer, TAG_DATA, l->comm, &request);
    *seconds = MPI_Wtime() - start;
    return code == MPI_SUCCESS ? finish_and_time_tests(&request, trip, seconds) : code;
}

/* Computes for STEPS steps, using no memory but one variable, and returns the seconds. */
static double compute(long steps) {
    volatile unsigned state = 1;
    double start = MPI_Wtime();
    for (long i = 0; i < steps; i++)
        state = state * 1664525u + 1013904223u;
    return MPI_Wtime() - start;
}

/* Times a computation alone, and again while messages arrive that are only received later. */
static int sample_arrival(const link *l, int bytes, double trip, double *seconds) {
    const long unit = 10000;
    long steps = (long)((2 * SPRAYED * trip + 2 * SLACK) / compute(unit) * (double)unit);
    wait_for_idle_links(l, SPRAYED * bytes);
    double alone = compute(steps);
    int code = send_demand(l, SPRAY, bytes, SPRAYED);
    double disturbed = compute(steps);
    for (int i = 0; i < SPRAYED && code == MPI_SUCCESS; i++)
        code = receive_data(l, bytes);
    *seconds = disturbed > alone ? (disturbed - alone) / SPRAYED : 0;
    return code;
}

/*
 * Sends or receives COUNT messages of BYTES with a window of them under way. Sets *QUARTER and
 * *LAST to the times (of MPI_Wtime) when message number COUNT / 4 and the last one were complete.
 */
static int stream_messages(const link *l, int bytes, int count, bool send, double *quarter,
                           double *last) {
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        requests[i] = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    for (int i = 0; i < count + WINDOW && code == MPI_SUCCESS; i++) {
        int slot = i % WINDOW;
        char *message = l->buffer + (size_t)slot * (size_t)bytes;
        code = MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
        if (i == count / 4 + WINDOW)
            *quarter = MPI_Wtime();
        if (code != MPI_SUCCESS || i >= count)
            continue;
        code =
            send ? MPI_Isend(message, bytes, MPI_BYTE, l->peer, TAG_DATA, l->comm, &requests[slot])
                 : MPI_Irecv(message, bytes, MPI_BYTE, l->peer, TAG_DATA, l->comm, &requests[slot]);
        /* The sender starts when a full window of receives is posted. */
        if (code == MPI_SUCCESS && !send && i == WINDOW - 1)
            code = send_demand(l, STREAM_ALL, bytes, count);
    }
    *last = MPI_Wtime();
    return code;
}

/*
 * Times the arrivals of a stream after its first quarter. The first messages may arrive faster,
 * since network cards and buffers accept them at once.
 */
static int sample_gap(const link *l, int bytes, double *seconds) {
    int count = STREAM / bytes, steady;
    count = count < LEAST_MESSAGES ? LEAST_MESSAGES : count > MOST_MESSAGES ? MOST_MESSAGES : count;
    double quarter = 0, last = 0;
    int code = stream_messages(l, bytes, count, false, &quarter, &last);
    steady = count - 1 - count / 4;
    *seconds = (last - quarter) / steady;
    return code;
}

/* --- Samples and rounds --- */

/* Returns whether FIGURE is measured for messages of BYTES. */
static bool is_measured_at(probe_figure figure, int bytes) {
    return !(figure == PROBE_ARRIVAL && bytes > LONGEST_SPRAYED) &&
           !(figure == PROBE_GAP && bytes > LONGEST_STREAMED);
}

static int take_sample(const link *l, probe_figure figure, int bytes, double trip,
                       double *seconds) {
    switch (figure) {
    case PROBE_MESSAGE:
        return sample_message(l, bytes, seconds);
    case PROBE_SEND:
        return sample_send(l, bytes, trip, seconds);
    case PROBE_RECEIVE:
        return sample_receive(l, bytes, trip, seconds);
    case PROBE_ARRIVAL:
        return sample_arrival(l, bytes, trip, seconds);
    default:
        return sample_gap(l, bytes, seconds);
    }
}

/* Returns how often the kernel has preempted this process. */
static long count_preemptions(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

/* Sets *MEDIAN to the median of one round's samples of FIGURE at BYTES. */
static int measure_once(const link *l, probe_figure figure, int bytes, double trip,
                        double *median) {
    static const task tasks[PROBE_FIGURES] = {
        [PROBE_MESSAGE] = ECHO, [PROBE_SEND] = TAKE, [PROBE_RECEIVE] = GIVE};
    double samples[MOST_SAMPLES];
    double wanted = trip > 0 && figure < PROBE_ARRIVAL ? BATCH / (4 * trip) : 1;
    int count = wanted < 1 ? 1 : wanted < MOST_SAMPLES ? (int)wanted : MOST_SAMPLES;
    int code = figure < PROBE_ARRIVAL ? send_demand(l, tasks[figure], bytes, count) : MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = take_sample(l, figure, bytes, trip, &samples[i]);
    if (code != MPI_SUCCESS)
        return code;
    *median = app_stats_median(samples, count);
    return MPI_SUCCESS;
}

/* Measures like measure_once, and again if the kernel preempted this process meanwhile. */
static int measure_undisturbed(const link *l, probe_figure figure, int bytes, double trip,
                               double *median) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < TRIES && code == MPI_SUCCESS; i++) {
        long before = count_preemptions();
        code = measure_once(l, figure, bytes, trip, median);
        if (count_preemptions() == before || trip > LONG)
            break;
    }
    return code;
}

/*
 * Measures all figures once at probe_size[S]. *TRIP is half a round trip of the previous round, or
 * 0 in the first round; sets *TRIP to half a round trip of this round.
 */
static int measure_size(const link *l, int s, probe_result *result, double *trip) {
    int code = MPI_SUCCESS;
    for (int f = 0; f < PROBE_FIGURES && code == MPI_SUCCESS; f++) {
        double median = 0;
        if (!is_measured_at((probe_figure)f, probe_size[s]))
            continue;
        code = measure_undisturbed(l, (probe_figure)f, probe_size[s], *trip, &median);
        if (code == MPI_SUCCESS)
            result->sample[f][s][result->rounds[f][s]++] = median;
        if (f == PROBE_MESSAGE)
            *trip = median;
    }
    return code;
}

static int measure_rounds(link *l, double seconds, probe_result *result) {
    double began = MPI_Wtime(), longest = 0, trips[PROBE_SIZES] = {0};
    int sizes = PROBE_SIZES, code = sample_gap(l, LONGEST_STREAMED, &l->per_byte);
    l->per_byte /= LONGEST_STREAMED;
    for (int round = 0; round < PROBE_ROUNDS && code == MPI_SUCCESS; round++) {
        double start = MPI_Wtime();
        if (round > 0 && start + longest > began + seconds)
            break;
        for (int s = 0; s < sizes && code == MPI_SUCCESS; s++) {
            code = measure_size(l, s, result, &trips[s]);
            if (trips[s] > seconds / 50)
                sizes = s + 1;
        }
        double taken = MPI_Wtime() - start;
        longest = taken > longest ? taken : longest;
    }
    return code;
}

int probe_measure(int peer, MPI_Comm comm, double seconds, probe_result *result) {
    link l = {.peer = peer, .comm = comm};
    memset(result, 0, sizeof *result);
    int code = make_buffer(&l);
    if (code == MPI_SUCCESS)
        code = measure_rounds(&l, seconds, result);
    if (code == MPI_SUCCESS)
        code = send_demand(&l, STOP, 0, 0);
    free(l.buffer);
    return code;
}

/* --- The server --- */

static int serve_demand(const link *l, const demand *d) {
    double quarter, last;
    int code = MPI_SUCCESS;
    if (d->task == STREAM_ALL)
        return stream_messages(l, d->bytes, d->count, true, &quarter, &last);
    if (d->task == SPRAY)
        pause_without_mpi(SLACK);
    for (int i = 0; i < d->count && code == MPI_SUCCESS; i++) {
        if (d->task == GIVE)
            code = receive_data(l, 0);
        else if (d->task != SPRAY)
            code = receive_data(l, d->bytes);
        if (code == MPI_SUCCESS && d->task != TAKE)
            code = send_data(l, d->bytes);
    }
    return code;
}

int probe_serve(int peer, MPI_Comm comm) {
    link l = {.peer = peer, .comm = comm};
    demand d = {.task = ECHO};
    int code = make_buffer(&l);
    while (code == MPI_SUCCESS && d.task != STOP) {
        code = MPI_Recv(&d, (int)sizeof d, MPI_BYTE, peer, TAG_DEMAND, comm, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && d.task != STOP)
            code = serve_demand(&l, &d);
    }
    free(l.buffer);
    return code;
}
