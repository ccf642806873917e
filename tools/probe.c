#include "config.h"

#include "tools/probe.h"

#include "tools/stats.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum {
    TAG_REQUEST = 11,
    TAG_ANSWER,
    TAG_STREAM,
    ECHO = -1, /* requests: send it back; stop; or the number of messages to stream */
    STOP = 0,
    MESSAGE = 32 << 10, /* bytes of a stream's message: under eager limits, as the chain's chunks */
    WINDOW = 16,        /* of them under way */
    LEAST_MESSAGES = 32,
    MOST_MESSAGES = 2048,
    LEAST_TRIPS = 5,
    MOST_TRIPS = 500
};

/* The shares of the time that go to each figure. */
static const double LATENCY_SHARE = 0.15, OVERHEAD_SHARE = 0.15;

/* A stream should take so long, so that single interruptions matter little; s. */
static const double LONG_ENOUGH = 20e-3;

/* How long an answer is given beyond the way there and back, and awake at the end of that; s. */
static const double SLACK = 100e-6, AWAKE = 500e-6;

static const double LOW_QUANTILE = 0.1;

typedef struct link {
    int peer;
    MPI_Comm comm;
    char *buffer; /* a window of messages */
} link;

static int send_request(const link *l, long long request) {
    return MPI_Send(&request, 1, MPI_LONG_LONG, l->peer, TAG_REQUEST, l->comm);
}

static int receive_answer(const link *l) {
    long long answer;
    return MPI_Recv(&answer, 1, MPI_LONG_LONG, l->peer, TAG_ANSWER, l->comm, MPI_STATUS_IGNORE);
}

static int make_buffer(link *l) {
    l->buffer = calloc(WINDOW, MESSAGE);
    return l->buffer ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Sends or receives COUNT messages, WINDOW at a time; the dates of the first and last end. */
static int stream(const link *l, long long count, bool send, double *first, double *last) {
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        requests[i] = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    for (long long i = 0; i < count + WINDOW && code == MPI_SUCCESS; i++) {
        int slot = (int)(i % WINDOW);
        char *message = l->buffer + (size_t)slot * MESSAGE;
        code = MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
        if (i == WINDOW)
            *first = MPI_Wtime();
        if (code != MPI_SUCCESS || i >= count)
            continue;
        code = send ? MPI_Isend(message, MESSAGE, MPI_BYTE, l->peer, TAG_STREAM, l->comm,
                                &requests[slot])
                    : MPI_Irecv(message, MESSAGE, MPI_BYTE, l->peer, TAG_STREAM, l->comm,
                                &requests[slot]);
        /* The sender starts when a full window of receives is posted. */
        if (code == MPI_SUCCESS && !send && i == WINDOW - 1)
            code = send_request(l, count);
    }
    *last = MPI_Wtime();
    return code;
}

static int measure_latency(const link *l, double seconds, double *latency) {
    double samples[MOST_TRIPS], began = MPI_Wtime();
    int count = 0, code = MPI_SUCCESS;
    while (count < LEAST_TRIPS || (count < MOST_TRIPS && MPI_Wtime() - began < seconds)) {
        double start = MPI_Wtime();
        code = send_request(l, ECHO);
        if (code == MPI_SUCCESS)
            code = receive_answer(l);
        if (code != MPI_SUCCESS)
            return code;
        samples[count++] = (MPI_Wtime() - start) / 2;
    }
    stats_sort(samples, count);
    *latency = stats_quantile(samples, count, LOW_QUANTILE);
    return MPI_SUCCESS;
}

/* Lets SECONDS pass; the end without sleep, since a processor just woken is slow. */
static void let_pass(double seconds) {
    double end = MPI_Wtime() + seconds, nap = seconds - AWAKE;
    if (nap > 0) {
        struct timespec time = {.tv_sec = (time_t)nap,
                                .tv_nsec = (long)((nap - (double)(time_t)nap) * 1e9)};
        nanosleep(&time, NULL);
    }
    while (MPI_Wtime() < end)
        continue;
}

static int measure_overhead(const link *l, double seconds, double latency, double *overhead) {
    double samples[MOST_TRIPS], began = MPI_Wtime();
    int count = 0;
    while (count < LEAST_TRIPS || (count < MOST_TRIPS && MPI_Wtime() - began < seconds)) {
        double start = MPI_Wtime();
        int code = send_request(l, ECHO);
        double sent = MPI_Wtime();
        let_pass(4 * latency + SLACK);
        double awake = MPI_Wtime();
        if (code == MPI_SUCCESS)
            code = receive_answer(l);
        if (code != MPI_SUCCESS)
            return code;
        samples[count++] = (sent - start + MPI_Wtime() - awake) / 2;
    }
    stats_sort(samples, count);
    *overhead = stats_quantile(samples, count, LOW_QUANTILE);
    return MPI_SUCCESS;
}

/*
 * Streams double until they are long enough. All before those are of the wrong length, and the
 * first one fills TCP's window: they count only where there is no time for others.
 */
static int measure_streams(const link *l, double seconds, probe_result *result) {
    long long count = LEAST_MESSAGES;
    bool warm = false;
    double began = MPI_Wtime();
    for (result->streams = 0; result->streams < PROBE_STREAMS;) {
        double first, last;
        int code = stream(l, count, false, &first, &last);
        if (code != MPI_SUCCESS)
            return code;
        double taken = last - first, left = seconds - (MPI_Wtime() - began);
        bool again = left > taken;
        if (!again || warm)
            result->per_byte[result->streams++] = taken / (double)((count - 1) * MESSAGE);
        if (!again)
            break;
        warm = warm || taken >= LONG_ENOUGH || count >= MOST_MESSAGES;
        if (!warm)
            count *= 2;
    }
    return MPI_SUCCESS;
}

int probe_measure(int peer, MPI_Comm comm, double seconds, probe_result *result) {
    link l = {.peer = peer, .comm = comm};
    int code = make_buffer(&l);
    if (code == MPI_SUCCESS)
        code = measure_latency(&l, LATENCY_SHARE * seconds, &result->latency);
    if (code == MPI_SUCCESS)
        code = measure_overhead(&l, OVERHEAD_SHARE * seconds, result->latency, &result->overhead);
    if (code == MPI_SUCCESS)
        code = measure_streams(&l, (1 - LATENCY_SHARE - OVERHEAD_SHARE) * seconds, result);
    if (code == MPI_SUCCESS)
        code = send_request(&l, STOP);
    free(l.buffer);
    return code;
}

int probe_serve(int peer, MPI_Comm comm) {
    link l = {.peer = peer, .comm = comm};
    long long request = ECHO;
    int code = make_buffer(&l);
    while (code == MPI_SUCCESS && request != STOP) {
        double first, last;
        code = MPI_Recv(&request, 1, MPI_LONG_LONG, peer, TAG_REQUEST, comm, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && request == ECHO)
            code = MPI_Send(&request, 1, MPI_LONG_LONG, peer, TAG_ANSWER, comm);
        else if (code == MPI_SUCCESS && request > 0)
            code = stream(&l, request, true, &first, &last);
    }
    free(l.buffer);
    return code;
}
