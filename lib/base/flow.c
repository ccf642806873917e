#include "config.h"

#include "lib/base/flow.h"

enum { FLOWS_MAX = 2, SLOTS_MAX = FLOWS_MAX * COLL_FLOW_WINDOW };

/* One request of a flow and the bytes that it moves. */
typedef struct slot {
    size_t from, length;
    char *segment; /* NULL where the data moves in place */
} slot;

typedef struct stream {
    coll_comm *comm;
    const coll_data *data;
    int tag;
    int count;
    coll_flow flows[FLOWS_MAX]; /* what is still to be posted */
    slot slots[SLOTS_MAX];      /* those of flow f begin at f * COLL_FLOW_WINDOW */
    MPI_Request requests[SLOTS_MAX];
    int peers[SLOTS_MAX];
} stream;

static size_t segment_of(size_t length) {
    return length < COLL_FLOW_SEGMENT ? length : COLL_FLOW_SEGMENT;
}

size_t coll_flow_room_bytes(size_t longest, int flows) {
    return (size_t)flows * COLL_FLOW_WINDOW * segment_of(longest);
}

/* Posts the next segment of the flow that slot I belongs to; leaves the slot empty after the last.
 */
static int post(stream *s, int i) {
    coll_flow *flow = &s->flows[i / COLL_FLOW_WINDOW];
    slot *next = &s->slots[i];
    if (flow->length == 0)
        return MPI_SUCCESS;
    next->from = flow->from;
    next->length = segment_of(flow->length);
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
    int slots = s->count * COLL_FLOW_WINDOW;
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
        if (!s->flows[i / COLL_FLOW_WINDOW].sending)
            coll_data_store(s->data, done->from, done->length, done->segment);
        code = post(s, i);
        if (code != MPI_SUCCESS)
            return code;
    }
}

/* Moves COUNT flows of DATA side by side. */
static int run(coll_comm *comm, int tag, const coll_data *data, const coll_flow flows[],
               int count) {
    stream s = {.comm = comm, .data = data, .tag = tag, .count = count};
    char *next = coll_data_in_place(data) ? NULL : comm->room;
    for (int f = 0; f < count; f++)
        s.flows[f] = flows[f];
    int slots = count * COLL_FLOW_WINDOW;
    for (int i = 0; i < slots; i++) {
        const coll_flow *flow = &flows[i / COLL_FLOW_WINDOW];
        s.requests[i] = MPI_REQUEST_NULL;
        s.peers[i] = flow->peer;
        s.slots[i].segment = next;
        next = next ? next + segment_of(flow->length) : NULL;
    }
    int code = advance(&s);
    if (code != MPI_SUCCESS)
        coll_wait_abandon(slots, s.requests);
    return code;
}

int coll_flow_send(coll_comm *comm, int tag, const coll_data *data, size_t from, size_t length,
                   int peer) {
    coll_flow flow = {.sending = true, .peer = peer, .from = from, .length = length};
    return run(comm, tag, data, &flow, 1);
}

int coll_flow_receive(coll_comm *comm, int tag, const coll_data *data, size_t from, size_t length,
                      int peer) {
    coll_flow flow = {.sending = false, .peer = peer, .from = from, .length = length};
    return run(comm, tag, data, &flow, 1);
}

static int finish_one(coll_comm *comm, int code, MPI_Request *request, int peer) {
    if (code == MPI_SUCCESS)
        code = coll_wait_all(&comm->wait, 1, request, &peer);
    if (code != MPI_SUCCESS)
        coll_wait_abandon(1, request);
    return code;
}

int coll_flow_send_one(coll_comm *comm, int tag, const void *memory, size_t bytes, int peer) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = PMPI_Isend(memory, (int)bytes, MPI_BYTE, peer, tag, comm->private, &request);
    return finish_one(comm, code, &request, peer);
}

int coll_flow_receive_one(coll_comm *comm, int tag, void *memory, size_t bytes, int peer) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = PMPI_Irecv(memory, (int)bytes, MPI_BYTE, peer, tag, comm->private, &request);
    return finish_one(comm, code, &request, peer);
}
