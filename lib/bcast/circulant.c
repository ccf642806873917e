/*
 * circulant: pipelined broadcast in the least possible number of rounds; for middling sizes.
 *
 * 1. The data is cut into n segments; ranks are positions in the chain order.
 * 2. In each of n - 1 + ceil(log2 p) rounds a rank sends one segment to the position skip[k] above
 *    it and receives one from skip[k] below it; lib/pattern/circulant.h says which. Rounds are not
 *    synchronized: a rank goes on as soon as it has the segment that it is to send.
 *
 * Where a chain's first segment pays p - 1 hops, here it pays ceil(log2 p). In exchange every rank
 * talks to 2 ceil(log2 p) others, across racks too.
 *
 * Cost: (n - 1 + ceil(log2 p)) (a + b B D) for segments of b bytes; the n - 1 take as long as the
 * rest of the whole message behind its first segment. As the rounds drift apart, two senders meet
 * at one receiver now and then; the drift D is what that costs. Between racks the data crosses an
 * uplink for each of the h nodes behind it: at least h m B, if the uplink is no faster than a
 * node's own link. Source: Traeff, Optimal Broadcast Schedules in Logarithmic Time, arXiv
 * 2407.18004.
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/base/error.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"
#include "lib/pattern/circulant.h"

#include <math.h>
#include <stdlib.h>

enum { SEGMENT, WINDOW };

static const coll_param params[] = {
    [SEGMENT] = {"segment",
                 "bytes a message, under the transport's eager limit; 0: by the cost model",
                 .fallback = 0, .lowest = 0, .highest = 1 << 30, .formerly = "block"},
    [WINDOW] = {"window", "messages under way in each direction", .fallback = 8, .lowest = 1,
                .highest = 1024},
    {.name = NULL},
};

static size_t segment_of(const coll_shape *call, const coll_values *values) {
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    return coll_profile_segment_or(values->at[SEGMENT], link, call->bytes,
                                   coll_tree_depth(call->topo->ranks) - 1);
}

/*
 * The more neighbours a rank has, the more often two of them send to it at once: on Ethernet some
 * 3 % of the link's rate are lost on 4 hosts, some 28 % on 25.
 */
static double drift(int neighbours) {
    return 1 + 0.015 * neighbours * neighbours;
}

static double predict(const coll_shape *call, const coll_values *values) {
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    double segment = fmax((double)segment_of(call, values), 1);
    const coll_topo *topo = call->topo;
    int sharing = coll_profile_sharing(topo);
    int depth = coll_tree_depth(topo->ranks);
    double first = depth * coll_cost_relay(link, segment, sharing);
    double rounds =
        first + drift(depth) * coll_cost_rest(link, (double)call->bytes, segment, sharing);
    double behind = topo->racks > 1 ? ceil((double)topo->nodes / topo->racks) : 0;
    return fmax(rounds, behind * (double)call->bytes * link->per_byte);
}

/* One rank's part. Receives run a window of rounds ahead of the sends. */
typedef struct pipeline {
    const coll_bcast_call *call;
    const int *order;
    coll_circulant schedule;
    size_t segment;
    long long segments, rounds;
    int window;
    MPI_Request *receives, *sends; /* a window of each */
    long long *receive_rounds;     /* the round that each posted receive belongs to */
    char *memory;                  /* 2 windows of segments, NULL where the data moves in place */
    long long posted, received;    /* receives so far */
    long long scanned;             /* rounds whose receive is posted */
    long long sent;
} pipeline;

static size_t length_of(const pipeline *p, long long segment) {
    size_t from = (size_t)segment * p->segment, bytes = p->call->data->bytes;
    return bytes - from < p->segment ? bytes - from : p->segment;
}

static char *slot_of(const pipeline *p, int slot) {
    return p->memory ? p->memory + (size_t)slot * p->segment : NULL;
}

/* Posts the receive of the next round that has one, if there is such a round. */
static int post_next(pipeline *p) {
    coll_circulant_round round = {.receive = -1};
    long long i = p->scanned;
    while (i < p->rounds && round.receive < 0)
        round = coll_circulant_at(&p->schedule, p->segments, i++);
    p->scanned = i;
    if (round.receive < 0)
        return MPI_SUCCESS;
    int slot = (int)(p->posted++ % p->window);
    p->receive_rounds[slot] = i - 1;
    void *bytes =
        coll_data_target(p->call->data, (size_t)round.receive * p->segment, slot_of(p, slot));
    return PMPI_Irecv(bytes, (int)length_of(p, round.receive), MPI_BYTE, p->order[round.from],
                      COLL_TAG_BCAST, p->call->comm->private, &p->receives[slot]);
}

/* Completes the receives of all rounds before ROUND. */
static int receive_before(pipeline *p, long long round) {
    while (p->received < p->posted) {
        int slot = (int)(p->received % p->window);
        if (p->receive_rounds[slot] >= round)
            break;
        coll_circulant_round done =
            coll_circulant_at(&p->schedule, p->segments, p->receive_rounds[slot]);
        int peer = p->order[done.from];
        int code = coll_wait_all(&p->call->comm->wait, 1, &p->receives[slot], &peer);
        if (code != MPI_SUCCESS)
            return code;
        coll_data_store(p->call->data, (size_t)done.receive * p->segment,
                        length_of(p, done.receive), slot_of(p, slot));
        p->received++;
        code = post_next(p);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

static int send_segment(pipeline *p, long long segment, int peer) {
    int slot = (int)(p->sent++ % p->window);
    int code = coll_wait_all(&p->call->comm->wait, 1, &p->sends[slot], &peer);
    if (code != MPI_SUCCESS)
        return code;
    size_t length = length_of(p, segment);
    const void *bytes = coll_data_read(p->call->data, (size_t)segment * p->segment, length,
                                       slot_of(p, p->window + slot));
    return PMPI_Isend(bytes, (int)length, MPI_BYTE, peer, COLL_TAG_BCAST, p->call->comm->private,
                      &p->sends[slot]);
}

static int run_rounds(pipeline *p) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < p->window && code == MPI_SUCCESS; i++)
        code = post_next(p);
    for (long long i = 0; i < p->rounds && code == MPI_SUCCESS; i++) {
        coll_circulant_round round = coll_circulant_at(&p->schedule, p->segments, i);
        if (round.send < 0)
            continue;
        code = receive_before(p, i);
        if (code == MPI_SUCCESS)
            code = send_segment(p, round.send, p->order[round.to]);
    }
    if (code == MPI_SUCCESS)
        code = receive_before(p, p->rounds);
    if (code == MPI_SUCCESS)
        code = coll_wait_all(&p->call->comm->wait, p->window, p->sends, NULL);
    return code;
}

static int run(const coll_bcast_call *call, const coll_values *values) {
    coll_comm *comm = call->comm;
    const coll_line *line = coll_line_of(comm, call->shape);
    pipeline p = {.call = call, .window = (int)values->at[WINDOW], .order = line->order};
    p.segment = segment_of(call->shape, values);
    p.segments = (long long)((call->data->bytes + p.segment - 1) / p.segment);
    coll_circulant_init(&p.schedule, comm->ranks, line->position);
    p.rounds = coll_circulant_rounds(&p.schedule, p.segments);
    if (p.window > p.rounds)
        p.window = (int)p.rounds;

    size_t window = (size_t)p.window;
    size_t each = 2 * sizeof(MPI_Request) + sizeof *p.receive_rounds + 2 * p.segment;
    void *room;
    int code = coll_comm_room(comm, window * each, &room);
    if (code != MPI_SUCCESS)
        return code;
    MPI_Request *requests = room;
    p.receive_rounds = (void *)(requests + 2 * window);
    if (!coll_data_in_place(call->data))
        p.memory = (char *)(p.receive_rounds + window);
    for (size_t i = 0; i < 2 * window; i++)
        requests[i] = MPI_REQUEST_NULL;
    p.receives = requests;
    p.sends = requests + window;

    code = run_rounds(&p);
    if (code != MPI_SUCCESS)
        coll_wait_abandon(2 * p.window, requests);
    return code;
}

const coll_bcast_algorithm coll_bcast_circulant = {
    .base = {.name = "circulant",
             .summary = "segments over a circulant graph, in the fewest possible rounds",
             .params = params,
             .predict = predict},
    .run = run,
};
