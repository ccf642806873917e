/*
 * linear: every rank sends to the root at once, which receives in chain order.
 *
 * The uncoordinated gather of message-passing libraries; here as the rival to measure against. On
 * Ethernet the senders together flood the switch's port to the root.
 *
 * Cost: (C1 + (p - 1) m D + C2) / r (eq. 8), where only the share r of eq. 4 gets through and the
 * rest is sent again.
 * Source: Tam, Wang: a performance model for commodity clusters, section 5.
 */
#include "config.h"

#include "lib/base/flow.h"
#include "lib/gather/gather.h"
#include "lib/gather/intake.h"
#include "lib/pattern/incast.h"

static const coll_param params[] = {{.name = NULL}};

static double predict(const coll_shape *call, const coll_values *values) {
    (void)values;
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    double senders = call->topo->ranks - 1, bytes = (double)call->bytes;
    double arrival = senders * bytes / coll_cost_send_gap(link, bytes);
    double departure = bytes / coll_cost_receive_gap(link, bytes);
    double buffer = coll_gather_buffer(call);
    return coll_gather_seconds(call, 1) /
           coll_incast_transfer_ratio(buffer, arrival, departure, senders * bytes);
}

static int run(const coll_gather_call *call, const coll_values *values) {
    (void)values;
    int code = coll_intake_room(call, &coll_intake_freely);
    if (code != MPI_SUCCESS)
        return code;
    if (call->comm->rank == call->root)
        return coll_intake_run(call, &coll_intake_freely);
    return coll_flow_send(call->comm, COLL_TAG_GATHER, call->mine, 0, call->mine->bytes,
                          call->root);
}

const coll_gather_algorithm coll_gather_linear = {
    .base = {.name = "linear",
             .summary = "all ranks send to the root at once",
             .params = params,
             .rival = true,
             .predict = predict},
    .run = run,
};
