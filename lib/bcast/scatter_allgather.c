/*
 * scatter_allgather: the bucket algorithm; the classic choice for long messages.
 *
 * 1. The root sends block i to the rank at position i of the chain order.
 * 2. Around the ring of positions, each rank p - 1 times passes on the block that it received last.
 *
 * Cost: (p + p - 1) (a + m B / p): p - 1 messages of the root, and p - 1 rounds of the ring, in
 * which all send at once. Source: Zhang, Qiu: High Performance Clustering of Social Images, eq. 2
 * and table 3.
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/base/flow.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/block.h"

static const coll_param params[] = {{.name = NULL}};

static double predict(const coll_shape *call, const coll_values *values) {
    (void)values;
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    int p = call->topo->ranks;
    double block = (double)call->bytes / p;
    return coll_cost_messages(link, p - 1, block, 2) +
           (p - 1) * coll_cost_relay(link, block, coll_profile_sharing(call->topo));
}

static int scatter(const coll_bcast_call *call, const int *order, int position) {
    coll_comm *comm = call->comm;
    size_t bytes = call->data->bytes;
    int p = comm->ranks;
    if (position > 0)
        return coll_flow_receive(comm, COLL_TAG_BCAST, call->data,
                                 coll_block_start(bytes, p, position),
                                 coll_block_length(bytes, p, position), call->root);
    for (int i = 1; i < p; i++) {
        int code = coll_flow_send(comm, COLL_TAG_BCAST, call->data, coll_block_start(bytes, p, i),
                                  coll_block_length(bytes, p, i), order[i]);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

/* The root has everything: it sends around the ring but need not receive. */
static int allgather(const coll_bcast_call *call, const int *order, int position) {
    coll_comm *comm = call->comm;
    size_t bytes = call->data->bytes;
    int p = comm->ranks;
    int left = (position + p - 1) % p, right = (position + 1) % p;
    for (int step = 0; step < p - 1; step++) {
        int sent = (position + p - step) % p, received = (left + p - step) % p;
        coll_flow outgoing = {.sending = true,
                              .peer = order[right],
                              .from = coll_block_start(bytes, p, sent),
                              .length = right ? coll_block_length(bytes, p, sent) : 0};
        coll_flow incoming = {.sending = false,
                              .peer = order[left],
                              .from = coll_block_start(bytes, p, received),
                              .length = position ? coll_block_length(bytes, p, received) : 0};
        int code = coll_flow_exchange(comm, COLL_TAG_BCAST, call->data, &outgoing, &incoming);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

static int run(const coll_bcast_call *call, const coll_values *values) {
    (void)values;
    const coll_line *line = coll_line_of(call->comm, call->shape);
    int code = coll_flow_room(call->comm, call->data->bytes, 2);
    if (code == MPI_SUCCESS)
        code = scatter(call, line->order, line->position);
    if (code == MPI_SUCCESS)
        code = allgather(call, line->order, line->position);
    return code;
}

const coll_bcast_algorithm coll_bcast_scatter_allgather = {
    .base = {.name = "scatter_allgather",
             .summary = "scatter a block to each rank, then pass the blocks around a ring",
             .params = params,
             .rival = true,
             .predict = predict},
    .run = run,
};
