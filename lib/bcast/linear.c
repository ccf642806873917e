/*
 * linear: the root sends the whole to every other rank, one after the other, in chain order.
 *
 * What the papers call simple broadcasting and data-centric frameworks do by default; here as the
 * rival to measure against.
 *
 * Cost: that of p - 1 messages of one sender.
 * Source: Zhang, Qiu: High Performance Clustering of Social Images, section 3.2 and table 7.
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/base/flow.h"
#include "lib/bcast/bcast.h"

static const coll_param params[] = {{.name = NULL}};

static double predict(const coll_shape *call, const coll_values *values) {
    (void)values;
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    return link->wake + coll_cost_messages(link, call->topo->ranks - 1, (double)call->bytes, 2);
}

static int run(const coll_bcast_call *call, const coll_values *values) {
    (void)values;
    coll_comm *comm = call->comm;
    int code = coll_flow_room(comm, call->data->bytes, 1);
    if (code != MPI_SUCCESS)
        return code;
    if (comm->rank != call->root)
        return coll_flow_receive(comm, COLL_TAG_BCAST, call->data, 0, call->data->bytes,
                                 call->root);
    const int *order = coll_line_of(comm, call->shape)->order;
    for (int i = 1; i < comm->ranks && code == MPI_SUCCESS; i++)
        code = coll_flow_send(comm, COLL_TAG_BCAST, call->data, 0, call->data->bytes, order[i]);
    return code;
}

const coll_bcast_algorithm coll_bcast_linear = {
    .base = {.name = "linear",
             .summary = "the root sends to each rank in turn",
             .params = params,
             .rival = true,
             .predict = predict},
    .run = run,
};
