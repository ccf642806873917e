/*
 * binomial: the minimum spanning tree of the papers; every rank that has the whole sends it on.
 *
 * 1. Ranks are positions in the chain order (node by node, rack by rack from the root), so that a
 *    subtree is a run of neighbours.
 * 2. A rank receives from its parent, then sends to its children, the largest subtree first.
 *
 * Cost: log2 p (Os + L + Or + Ur). But a message under the eager limit counts as sent before it has
 * left, so that the i messages of a rank share its link; the way to the last rank leads through the
 * first of each, and the i-th last round takes as long as i messages.
 * Source: Zhang, Qiu: High Performance Clustering of Social Images, eq. 1; Tam, Wang: a performance
 * model for commodity clusters, eq. 2 with k = 1.
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/base/flow.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"

static const coll_param params[] = {{.name = NULL}};

/* Of Open MPI over TCP. */
static const size_t eager_limit = 64 << 10;

static double predict(const coll_shape *call, const coll_values *values) {
    (void)values;
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    double seconds = 0;
    for (int i = coll_tree_depth(call->topo->ranks); i > 0; i--) {
        int sharing = call->bytes < eager_limit ? i : 1;
        seconds += link->wake + coll_cost_messages(link, sharing, (double)call->bytes, 2);
    }
    return seconds;
}

static int run(const coll_bcast_call *call, const coll_values *values) {
    (void)values;
    coll_comm *comm = call->comm;
    const coll_line *line = coll_line_of(comm, call->shape);
    int code = coll_flow_room(comm, call->data->bytes, 1);
    if (code != MPI_SUCCESS)
        return code;

    int parent, children[31];
    int count = coll_tree_binomial(comm->ranks, line->position, &parent, children);
    if (parent >= 0)
        code = coll_flow_receive(comm, COLL_TAG_BCAST, call->data, 0, call->data->bytes,
                                 line->order[parent]);
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = coll_flow_send(comm, COLL_TAG_BCAST, call->data, 0, call->data->bytes,
                              line->order[children[i]]);
    return code;
}

const coll_bcast_algorithm coll_bcast_binomial = {
    .base = {.name = "binomial",
             .summary = "the whole message down a binomial tree in rack order",
             .params = params,
             .predict = predict},
    .run = run,
};
