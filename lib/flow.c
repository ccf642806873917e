#include "config.h"

#include "lib/flow.h"

#include "lib/error.h"

#include <stdlib.h>

enum { SLOTS_MAX = COLL_FLOWS_MAX * COLL_FLOW_WINDOW_MAX };

static const int default_window = 4;

/* One request of a flow and the bytes that it moves. */
typedef struct slot {
    size_t from, length;
    char *segment; /* NULL where the data moves in place */
} slot;

typedef struct stream {
    coll_comm *comm;
    const coll_data *data;
    int tag;
    size_t piece;
    int window;
    int count;
    coll_flow flows[COLL_FLOWS_MAX]; /* what is still to be posted */
    slot slots[SLOTS_MAX];           /* those of flow f begin at f * window */
    MPI_Request requests[SLOTS_MAX];
    int peers[SLOTS_MAX];
    char *memory;
} stream;

/* Posts the next piece of the flow that slot I belongs to; leaves the slot empty after the last. */
static int post(stream *s, int i) {
    coll_flow *flow = &s->flows[i / s->window];
    slot *next = &s->slots[i];
    if (flow->length == 0)
        return MPI_SUCCESS;
    next->from = flow->from;
    next->length = flow->length < s->piece ? flow->length : s->piece;
    flow->from += next->length;
    flow->length -= next->length;

    if (flow->sending) {
        const void *bytes = coll_data_read(s->data, next->from, next->length, next->segment);
        return PMPI_Isend(bytes, (int)next->length, MPI_BYTE, flow->peer, s->tag, s->comm->private,
                          &s->requests[i]);
    }
    void *bytes = coll_data_target(s->data, next->from, next->segment);
    return PMPI_Irecv(bytes, (int)next->length, MPI_BYTE, flow->peer, s->tag, s->comm->private,
                      &s->requests[i]);
}

static int advance(stream *s) {
    int slots = s->count * s->window;
    for (int i = 0; i < slots; i++) {
        int code = post(s, i);
        if (code != MPI_SUCCESS)
            return code;
    }
    for (;;) {
        int i;
        int code = coll_wait_any(&s->comm->wait, slots, s->requests, s->peers, &i);
        if (code != MPI_SUCCESS || i == MPI_UNDEFINED)
            return code;
        const slot *done = &s->slots[i];
        if (!s->flows[i / s->window].sending)
            coll_data_store(s->data, done->from, done->length, done->segment);
        code = post(s, i);
        if (code != MPI_SUCCESS)
            return code;
    }
}

int coll_flow_run(coll_comm *comm, int tag, const coll_data *data, const coll_flow flows[],
                  int count, size_t piece, int window) {
    stream s = {
        .comm = comm, .data = data, .tag = tag, .piece = piece, .window = window, .count = count};
    int slots = count * window;
    if (!coll_data_in_place(data)) {
        s.memory = malloc((size_t)slots * piece);
        if (!s.memory)
            return coll_error(MPI_ERR_NO_MEM, "no memory for %d segments of %zu bytes", slots,
                              piece);
    }
    for (int f = 0; f < count; f++)
        s.flows[f] = flows[f];
    for (int i = 0; i < slots; i++) {
        s.requests[i] = MPI_REQUEST_NULL;
        s.peers[i] = flows[i / window].peer;
        s.slots[i].segment = s.memory ? s.memory + (size_t)i * piece : NULL;
    }
    int code = advance(&s);
    if (code != MPI_SUCCESS) {
        coll_wait_abandon(slots, s.requests);
        return code;
    }
    free(s.memory);
    return MPI_SUCCESS;
}

int coll_flow_send(coll_comm *comm, int tag, const coll_data *data, size_t from, size_t length,
                   int peer) {
    coll_flow flow = {.sending = true, .peer = peer, .from = from, .length = length};
    return coll_flow_run(comm, tag, data, &flow, 1, COLL_FLOW_PIECE, default_window);
}

int coll_flow_receive(coll_comm *comm, int tag, const coll_data *data, size_t from, size_t length,
                      int peer) {
    coll_flow flow = {.sending = false, .peer = peer, .from = from, .length = length};
    return coll_flow_run(comm, tag, data, &flow, 1, COLL_FLOW_PIECE, default_window);
}

int coll_flow_exchange(coll_comm *comm, int tag, const coll_data *data, const coll_flow *outgoing,
                       const coll_flow *incoming) {
    coll_flow flows[2] = {*outgoing, *incoming};
    return coll_flow_run(comm, tag, data, flows, 2, COLL_FLOW_PIECE, default_window);
}
