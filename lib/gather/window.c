/*
 * window: the coordinated gather of the paper, where a window of ranks sends at a time.
 *
 * 1. Ranks are positions in the chain order from the root, P0.
 * 2. Where all blocks together fit the switch's buffer, everybody sends at once.
 * 3. Else the ranks P1 to Pw send at once; when Pj's send returns it sends a start signal to
 *    P(j + w), which then sends.
 *
 * w lies between the bounds of eq. 5 and 6 and keeps the last window full (eq. 7):
 * lib/pattern/incast.h. This is the paper's algorithm 1 as it stands. Over TCP a send returns when
 * its data has left for the socket's buffer, so the signal overtakes the data and more than w ranks
 * may flood the switch; credit counts what has arrived instead.
 *
 * Cost: T = C1 + (p - 1) m D + C2 (eq. 8).
 * Source: Tam, Wang: a performance model for commodity clusters, section 5.3.
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/base/flow.h"
#include "lib/gather/gather.h"
#include "lib/gather/intake.h"
#include "lib/pattern/incast.h"

enum { SENDERS };

static const coll_param params[] = {
    [SENDERS] = {"senders", "ranks that send at a time; 0: by the cost model", .fallback = 0,
                 .lowest = 0, .highest = 1 << 20},
    {.name = NULL},
};

static int window_of(const coll_shape *call, const coll_values *values) {
    int senders = call->topo->ranks - 1;
    if (values->at[SENDERS])
        return (int)values->at[SENDERS];
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    double bytes = (double)call->bytes, buffer = coll_gather_buffer(call);
    double gs = coll_cost_send_gap(link, bytes), gr = coll_cost_receive_gap(link, bytes);
    int fewest = coll_incast_fewest(gs, gr);
    int most = coll_incast_most(gs, gr, buffer, bytes * senders, senders);
    return coll_incast_window(fewest, most, senders);
}

static double predict(const coll_shape *call, const coll_values *values) {
    (void)values;
    return coll_gather_seconds(call, 1);
}

static int run(const coll_gather_call *call, const coll_values *values) {
    coll_comm *comm = call->comm;
    const coll_line *line = coll_line_of(comm, call->shape);
    int code = coll_intake_room(call, &coll_intake_freely);
    if (code != MPI_SUCCESS)
        return code;
    int j = line->position, p = comm->ranks;
    if (j == 0)
        return coll_intake_run(call, &coll_intake_freely);

    int w = window_of(call->shape, values);
    if (j > w)
        code = coll_flow_receive_one(comm, COLL_TAG_GRANT, NULL, 0, line->order[j - w]);
    if (code == MPI_SUCCESS)
        code = coll_flow_send(comm, COLL_TAG_GATHER, call->mine, 0, call->mine->bytes, call->root);
    if (code == MPI_SUCCESS && w < p - j)
        code = coll_flow_send_one(comm, COLL_TAG_GRANT, NULL, 0, line->order[j + w]);
    return code;
}

const coll_gather_algorithm coll_gather_window = {
    .base = {.name = "window",
             .summary = "a window of ranks sends at a time; each starts the next one",
             .params = params,
             .rival = true,
             .applicable = coll_gather_is_even,
             .predict = predict},
    .run = run,
};
