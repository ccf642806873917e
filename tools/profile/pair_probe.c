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
    MOST = 256 << 10,   /* bytes of the largest size */
    WINDOW = 16,        /* messages of a stream under way */
    STREAM = 384 << 10, /* bytes of a stream, but at least so many messages and at most so many: */
    LEAST_MESSAGES = 2 * WINDOW,
    MOST_MESSAGES = 256,
    LONGEST_STREAMED = 32 << 10, /* above it, a stream is paced by the wire alone */
    LONGEST_SPRAYED = 16 << 10,  /* what surely fits a socket's buffer unread, several times */
    SPRAYED = 4,
    MOST_SAMPLES = 9, /* of a round */
    TRIES = 3
};

/* What the server is to do with COUNT messages of BYTES: send them back, take them, send them one
 * at a time when asked, send them all after a pause, stream them; or stop. */
typedef enum task { ECHO, TAKE, GIVE, SPRAY, STREAM_ALL, STOP } task;
typedef struct demand {
    task task;
    int bytes, count;
} demand;

/* The samples of a figure at a size in one round take about so long, where one takes less; s. */
static const double BATCH = 2e-3;

/* What takes longer than this is interrupted now and then, and takes no harm from it; s. */
static const double LONG = 5e-3;

/* A message that has left has time to arrive before it is looked for: so much beyond its way; s. */
static const double SLACK = 100e-6;

/* The end of such a pause is spent awake, since a processor just woken is slow; s. */
static const double AWAKE = 500e-6;

typedef struct link {
    int peer;
    MPI_Comm comm;
    double per_byte; /* s: what a byte needs on the wire; 0 while unknown */
    char *buffer;    /* of a window of streamed messages, which is more than the largest size */
} link;

static int make_buffer(link *l) {
    l->buffer = calloc(WINDOW, LONGEST_STREAMED);
    return l->buffer ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int ask(const link *l, task what, int bytes, int count) {
    demand d = {what, bytes, count};
    return MPI_Send(&d, (int)sizeof d, MPI_BYTE, l->peer, TAG_DEMAND, l->comm);
}

static int send_data(const link *l, int bytes) {
    return MPI_Send(l->buffer, bytes, MPI_BYTE, l->peer, TAG_DATA, l->comm);
}

static int receive_data(const link *l, int bytes) {
    return MPI_Recv(l->buffer, bytes, MPI_BYTE, l->peer, TAG_DATA, l->comm, MPI_STATUS_IGNORE);
}

/* Lets SECONDS pass without calls to MPI; the end awake. */
static void let_pass(double seconds) {
    double end = MPI_Wtime() + seconds, nap = seconds - AWAKE;
    if (nap > 0)
        app_sleep(nap);
    while (MPI_Wtime() < end)
        continue;
}

/*
 * Lets the network recover from BYTES in each direction: links may pass more than their rate allows
 * until they have caught up, and a sample is to find them idle.
 */
static void recover(const link *l, int bytes) {
    let_pass(bytes * l->per_byte);
}

/* --- The figures, one sample each; TRIP is half a round trip of that size --- */

static int sample_message(const link *l, int bytes, double *seconds) {
    recover(l, bytes);
    double start = MPI_Wtime();
    int code = send_data(l, bytes);
    if (code == MPI_SUCCESS)
        code = receive_data(l, bytes);
    *seconds = (MPI_Wtime() - start) / 2;
    return code;
}

/* Tests *REQUEST, with pauses outside MPI, until it is done; adds the time in calls to *SECONDS. */
static int finish_counting(MPI_Request *request, double trip, double *seconds) {
    int code = MPI_SUCCESS;
    for (int done = 0; !done && code == MPI_SUCCESS;) {
        double start = MPI_Wtime();
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        *seconds += MPI_Wtime() - start;
        if (!done)
            let_pass(trip / 4);
    }
    return code;
}

/* The pause lets the message arrive, so that the next one finds the network empty. */
static int sample_send(const link *l, int bytes, double trip, double *seconds) {
    MPI_Request request;
    recover(l, bytes);
    double start = MPI_Wtime();
    int code = MPI_Isend(l->buffer, bytes, MPI_BYTE, l->peer, TAG_DATA, l->comm, &request);
    *seconds = MPI_Wtime() - start;
    if (code == MPI_SUCCESS)
        code = finish_counting(&request, trip, seconds);
    let_pass(trip + SLACK);
    return code;
}

static int sample_receive(const link *l, int bytes, double trip, double *seconds) {
    MPI_Request request;
    recover(l, bytes);
    int code = send_data(l, 0);
    let_pass(2 * trip + SLACK);
    double start = MPI_Wtime();
    if (code == MPI_SUCCESS)
        code = MPI_Irecv(l->buffer, bytes, MPI_BYTE, l->peer, TAG_DATA, l->comm, &request);
    *seconds = MPI_Wtime() - start;
    return code == MPI_SUCCESS ? finish_counting(&request, trip, seconds) : code;
}

/* A computation that takes no memory; as long as STEPS are many. */
static double compute(long steps) {
    volatile unsigned state = 1;
    double start = MPI_Wtime();
    for (long i = 0; i < steps; i++)
        state = state * 1664525u + 1013904223u;
    return MPI_Wtime() - start;
}

/* The computation alone, and again while messages arrive that nobody receives yet. */
static int sample_arrival(const link *l, int bytes, double trip, double *seconds) {
    const long unit = 10000;
    long steps = (long)((2 * SPRAYED * trip + 2 * SLACK) / compute(unit) * (double)unit);
    recover(l, SPRAYED * bytes);
    double alone = compute(steps);
    int code = ask(l, SPRAY, bytes, SPRAYED);
    double disturbed = compute(steps);
    for (int i = 0; i < SPRAYED && code == MPI_SUCCESS; i++)
        code = receive_data(l, bytes);
    *seconds = disturbed > alone ? (disturbed - alone) / SPRAYED : 0;
    return code;
}

/* Sends or receives COUNT messages, a window at a time; the dates of a quarter's and the last end.
 */
static int stream(const link *l, int bytes, int count, bool send, double *quarter, double *last) {
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
            code = ask(l, STREAM_ALL, bytes, count);
    }
    *last = MPI_Wtime();
    return code;
}

/*
 * Measured where it arrives, after the first quarter, which may come faster: network cards and
 * buffers take it at once.
 */
static int sample_gap(const link *l, int bytes, double *seconds) {
    int count = STREAM / bytes, steady;
    count = count < LEAST_MESSAGES ? LEAST_MESSAGES : count > MOST_MESSAGES ? MOST_MESSAGES : count;
    double quarter = 0, last = 0;
    int code = stream(l, bytes, count, false, &quarter, &last);
    steady = count - 1 - count / 4;
    *seconds = (last - quarter) / steady;
    return code;
}

/* --- Samples, rounds --- */

static bool applies(probe_figure figure, int bytes) {
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

/* How often the kernel has taken the processor from this process. */
static long preemptions(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

/* A round's median of one figure at one size. */
static int measure_once(const link *l, probe_figure figure, int bytes, double trip,
                        double *median) {
    static const task tasks[PROBE_FIGURES] = {
        [PROBE_MESSAGE] = ECHO, [PROBE_SEND] = TAKE, [PROBE_RECEIVE] = GIVE};
    double samples[MOST_SAMPLES];
    double wanted = trip > 0 && figure < PROBE_ARRIVAL ? BATCH / (4 * trip) : 1;
    int count = wanted < 1 ? 1 : wanted < MOST_SAMPLES ? (int)wanted : MOST_SAMPLES;
    int code = figure < PROBE_ARRIVAL ? ask(l, tasks[figure], bytes, count) : MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = take_sample(l, figure, bytes, trip, &samples[i]);
    if (code != MPI_SUCCESS)
        return code;
    *median = app_stats_median(samples, count);
    return MPI_SUCCESS;
}

static int measure_undisturbed(const link *l, probe_figure figure, int bytes, double trip,
                               double *median) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < TRIES && code == MPI_SUCCESS; i++) {
        long before = preemptions();
        code = measure_once(l, figure, bytes, trip, median);
        if (preemptions() == before || trip > LONG)
            break;
    }
    return code;
}

/* All figures at size S; half a round trip of it goes to *TRIP. */
static int measure_size(const link *l, int s, probe_result *result, double *trip) {
    int code = MPI_SUCCESS;
    for (int f = 0; f < PROBE_FIGURES && code == MPI_SUCCESS; f++) {
        double median = 0;
        if (!applies((probe_figure)f, probe_size[s]))
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
        code = ask(&l, STOP, 0, 0);
    free(l.buffer);
    return code;
}

/* --- The server --- */

static int serve(const link *l, const demand *d) {
    double quarter, last;
    int code = MPI_SUCCESS;
    if (d->task == STREAM_ALL)
        return stream(l, d->bytes, d->count, true, &quarter, &last);
    if (d->task == SPRAY)
        let_pass(SLACK);
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
            code = serve(&l, &d);
    }
    free(l.buffer);
    return code;
}
