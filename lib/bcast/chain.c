/*
 * chain: the pipelined, rack-aware chain; for large data.
 *
 * 1. Ranks stand in a line: the root, its node, its rack, the other racks, so that every uplink is
 *    crossed once in each direction.
 * 2. The data moves down the line in segments; a rank sends a segment on as soon as it has it, with
 *    receives posted a window ahead and at most a window of segments that the next rank has not
 *    confirmed. A send is complete when the transport has copied the data: only confirmations bound
 *    what waits in the switch before the next rank. Unbounded it overflows now and then, and a line
 *    in which every link is equally fast never makes up for the time that a lost packet costs.
 *
 * Segments stay under the transport's eager limit: above it, a rank's clear-to-send queues behind
 * the data that it is forwarding, and the pipeline stalls (over TCP, 128 KB segments reach a third
 * of the rate of 32 KB ones).
 *
 * With confirm=1 segments carry checksums, the last rank acknowledges, and faults lead to up to
 * retry restarts: chain_confirmed.h.
 *
 * Cost: (p + n - 2) (a + c B) for p ranks and n segments of c bytes: the first segment pays p - 1
 * hops in full, each at its level; the other n - 1 follow at the pace of the farthest level.
 * Source: Zhang, Qiu: High Performance Clustering of Social Images, section 4 and eq. 3.
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/bcast/bcast.h"
#include "lib/bcast/chain_confirmed.h"

#include <math.h>

enum { SEGMENT, WINDOW, CONFIRM, RETRY };

static const coll_param params[] = {
    [SEGMENT] = {"segment",
                 "bytes a message, under the transport's eager limit; 0: by the cost model",
                 .highest = 1 << 30, .formerly = "chunk"},
    [WINDOW] = {"window", "messages that the next rank has not confirmed; 0: by the cost model",
                .fallback = 0, .lowest = 0, .highest = 1024},
    [CONFIRM] = {"confirm", "1: checksums, and the last rank's acknowledgement", .highest = 1},
    [RETRY] = {"retry", "with confirm=1: restarts after faults", .fallback = 2, .highest = 10},
    {.name = NULL},
};

static size_t segment_of(const coll_shape *call, const coll_values *values) {
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    return coll_profile_segment_or(values->at[SEGMENT], link, call->bytes, call->topo->ranks - 2);
}

/* As many segments as half of the buffer before the next rank holds, of those that are worth it. */
static int window_of(const coll_shape *call, const coll_values *values, size_t segment) {
    enum { FEWEST = 4, MOST = 16 };
    if (values->at[WINDOW])
        return (int)values->at[WINDOW];
    double buffer = coll_cost_buffer(coll_profile_outermost(call->profile, call->topo));
    double fit = buffer > 0 ? floor(buffer / 2 / fmax((double)segment, 1)) : MOST;
    return (int)fmin(fmax(fit, FEWEST), MOST);
}

static double predict(const coll_shape *call, const coll_values *values) {
    const coll_topo *topo = call->topo;
    double segment = fmax((double)segment_of(call, values), 1);
    const int hops[COLL_LEVELS] = {[COLL_LEVEL_NODE] = topo->ranks - topo->nodes,
                                   [COLL_LEVEL_RACK] = topo->nodes - topo->racks,
                                   [COLL_LEVEL_SITE] = topo->racks - topo->sites,
                                   [COLL_LEVEL_WIDE] = topo->sites - 1};
    double seconds = 0;
    for (int level = 0; level < COLL_LEVELS; level++)
        seconds += hops[level] * coll_cost_relay(&call->profile->level[level], segment, 2);
    const coll_cost *slowest = coll_profile_outermost(call->profile, topo);
    double confirmation = values->at[CONFIRM] ? 2 * coll_cost_relay(slowest, 1, 2) : 0;
    return seconds +
           coll_cost_rest(slowest, (double)call->bytes, segment, coll_profile_sharing(topo)) +
           confirmation;
}

/* One rank's part: segments come from PREVIOUS and go to NEXT (-1: nobody). */
typedef struct hop {
    const coll_bcast_call *call;
    int previous, next;
    size_t segment, segments;
    int window;
    MPI_Request *receives, *sends;     /* a window of each */
    MPI_Request confirming, confirmed; /* to the previous rank, from the next */
    char *memory; /* 2 windows of segments, NULL where the data moves in place */
} hop;

static size_t length_of(const hop *l, size_t i) {
    size_t from = i * l->segment, bytes = l->call->data->bytes;
    return bytes - from < l->segment ? bytes - from : l->segment;
}

/*
 * Segment I is received into its slot and sent from there. While it is sent, up to a window of
 * later ones arrive, so two windows of slots suffice.
 */
static char *slot_of(const hop *l, size_t i) {
    return l->memory ? l->memory + i % (2 * (size_t)l->window) * l->segment : NULL;
}

static int post_receive(const hop *l, size_t i) {
    void *bytes = coll_data_target(l->call->data, i * l->segment, slot_of(l, i));
    return PMPI_Irecv(bytes, (int)length_of(l, i), MPI_BYTE, l->previous, COLL_TAG_BCAST,
                      l->call->comm->private, &l->receives[i % (size_t)l->window]);
}

static int wait_one(const hop *l, MPI_Request *request, int peer) {
    return coll_wait_all(&l->call->comm->wait, 1, request, &peer);
}

static int forward(const hop *l, size_t i) {
    char *slot = slot_of(l, i);
    const void *bytes = l->previous < 0
                            ? coll_data_read(l->call->data, i * l->segment, length_of(l, i), slot)
                            : coll_data_target(l->call->data, i * l->segment, slot);
    return PMPI_Isend(bytes, (int)length_of(l, i), MPI_BYTE, l->next, COLL_TAG_BCAST,
                      l->call->comm->private, &l->sends[i % (size_t)l->window]);
}

/*
 * Confirmations are empty messages, one for every STEP segments; those that nobody waits for, since
 * the last window of segments needs none, are not sent.
 */
static size_t step_of(const hop *l) {
    return l->window < 4 ? 1 : (size_t)l->window / 4;
}

/* Segment I has arrived: tells the previous rank where it will want to know. */
static int confirm(hop *l, size_t i) {
    size_t window = (size_t)l->window, step = step_of(l);
    bool wanted = (i + 1) % step == 0 && i + 1 + window < l->segments + step;
    if (l->previous < 0 || !wanted)
        return MPI_SUCCESS;
    int code = wait_one(l, &l->confirming, l->previous);
    return code == MPI_SUCCESS ? PMPI_Isend(NULL, 0, MPI_BYTE, l->previous, COLL_TAG_CONFIRMATION,
                                            l->call->comm->private, &l->confirming)
                               : code;
}

/* Before segment I is sent, segment I - window must have been confirmed. */
static int await_confirmation(hop *l, size_t i) {
    size_t window = (size_t)l->window;
    if (i < window || (i - window) % step_of(l) != 0)
        return MPI_SUCCESS;
    int code = PMPI_Irecv(NULL, 0, MPI_BYTE, l->next, COLL_TAG_CONFIRMATION, l->call->comm->private,
                          &l->confirmed);
    return code == MPI_SUCCESS ? wait_one(l, &l->confirmed, l->next) : code;
}

static int pass_along(hop *l) {
    const coll_data *data = l->call->data;
    size_t window = (size_t)l->window;
    int code = MPI_SUCCESS;
    if (l->previous >= 0)
        for (size_t i = 0; i < l->segments && i < window && code == MPI_SUCCESS; i++)
            code = post_receive(l, i);

    for (size_t i = 0; i < l->segments && code == MPI_SUCCESS; i++) {
        if (l->previous >= 0)
            code = wait_one(l, &l->receives[i % window], l->previous);
        /* The send of segment i - window frees its request, and its slot for segment i + window. */
        if (code == MPI_SUCCESS && l->next >= 0)
            code = wait_one(l, &l->sends[i % window], l->next);
        if (code == MPI_SUCCESS && l->previous >= 0 && i + window < l->segments)
            code = post_receive(l, i + window);
        if (code == MPI_SUCCESS)
            code = confirm(l, i);
        if (code == MPI_SUCCESS && l->next >= 0)
            code = await_confirmation(l, i);
        if (code == MPI_SUCCESS && l->next >= 0)
            code = forward(l, i);
        if (code == MPI_SUCCESS && l->previous >= 0)
            coll_data_store(data, i * l->segment, length_of(l, i), slot_of(l, i));
    }
    for (size_t i = 0; i < window && code == MPI_SUCCESS; i++)
        code = wait_one(l, &l->sends[i], l->next);
    return code == MPI_SUCCESS ? wait_one(l, &l->confirming, l->previous) : code;
}

static int run(const coll_bcast_call *call, const coll_values *values) {
    coll_comm *comm = call->comm;
    size_t segment = segment_of(call->shape, values);
    int most = window_of(call->shape, values, segment);
    if (values->at[CONFIRM])
        return coll_chain_confirmed_run(call, segment, most, (unsigned)values->at[RETRY]);
    const coll_line *line = coll_line_of(comm, call->shape);
    int position = line->position;
    size_t bytes = call->data->bytes;
    hop l = {.call = call,
             .previous = position > 0 ? line->order[position - 1] : -1,
             .next = position < comm->ranks - 1 ? line->order[position + 1] : -1,
             .segment = segment,
             .window = most,
             .confirming = MPI_REQUEST_NULL,
             .confirmed = MPI_REQUEST_NULL};
    l.segments = (bytes + l.segment - 1) / l.segment;
    if ((size_t)l.window > l.segments)
        l.window = (int)l.segments;

    size_t window = (size_t)l.window;
    void *room;
    int code = coll_comm_room(comm, 2 * window * (sizeof(MPI_Request) + l.segment), &room);
    if (code != MPI_SUCCESS)
        return code;
    MPI_Request *requests = room;
    for (size_t i = 0; i < 2 * window; i++)
        requests[i] = MPI_REQUEST_NULL;
    l.receives = requests;
    l.sends = requests + window;
    if (!coll_data_in_place(call->data))
        l.memory = (char *)(requests + 2 * window);

    code = pass_along(&l);
    if (code != MPI_SUCCESS) {
        coll_wait_abandon(2 * l.window, requests);
        coll_wait_abandon(1, &l.confirming);
        coll_wait_abandon(1, &l.confirmed);
    }
    return code;
}

const coll_bcast_algorithm coll_bcast_chain = {
    .base = {.name = "chain",
             .summary = "segments pass along a line of ranks in rack order",
             .params = params,
             .predict = predict},
    .run = run,
};
