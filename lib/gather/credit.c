/*
 * credit: the root grants its bandwidth, segment by segment, so that no switch buffer overflows.
 *
 * 1. The root asks the ranks for their blocks in chain order (node by node, rack by rack), posting
 *    the receives as it asks. Bytes that were asked for and have not arrived are at most a window,
 *    which fits the buffer of the switch's port: whatever the senders do, nothing is dropped.
 * 2. While the window's bytes are all one rank's, it may go up to a run: its own link paces it, and
 *    its stream needs no further grants. The next rank is asked as soon as what is missing of the
 *    stream fits the window, so the link to the root stays full.
 * 3. Blocks that fit the window all together are sent without being asked for.
 *
 * The window of Tam and Wang's algorithm counts senders, and a sender passes its place on when its
 * send returns. Over TCP that is when its data has left for the socket's buffer: the start signal
 * overtakes the data, and the window bounds nothing. This one counts bytes that have arrived.
 *
 * Cost: T = C1 + (p - 1) m D + C2 (eq. 8): the first grant and segment come, then the link to the
 * root is full, then the last segment is received.
 * Source: Tam, Wang: a performance model for commodity clusters, section 5; the credits are ours.
 */
#include "config.h"

#include "lib/gather/gather.h"
#include "lib/gather/intake.h"

enum { SEGMENT, WINDOW, RUN };

static const coll_param params[] = {
    [SEGMENT] = {"segment", "bytes a message, under the transport's eager limit",
                 .fallback = 16 << 10, .lowest = 1, .highest = 1 << 30},
    [WINDOW] = {"window", "bytes on the way; 0: by the cost model", .fallback = 0, .lowest = 0,
                .highest = UINT64_C(1) << 40},
    [RUN] = {"run", "bytes on the way while one rank alone sends", .fallback = 1 << 20, .lowest = 1,
             .highest = UINT64_C(1) << 40},
    {.name = NULL},
};

static coll_intake intake_of(const coll_shape *call, const coll_profile *profile,
                             const coll_values *values) {
    (void)profile;
    size_t window = values->at[WINDOW] ? values->at[WINDOW] : 48 << 10;
    size_t senders = call->topo->ranks > 1 ? (size_t)call->topo->ranks - 1 : 1;
    return (coll_intake){.segment = values->at[SEGMENT],
                         .window = window,
                         .run = values->at[RUN],
                         .grants = true,
                         .unasked = window / senders};
}

static double predict(const coll_shape *call, const coll_profile *profile,
                      const coll_values *values) {
    const coll_cost *link = coll_profile_outermost(profile, call->topo);
    coll_intake intake = intake_of(call, profile, values);
    double bytes = (double)call->bytes * (call->topo->ranks - 1);
    double hop = link->latency + link->overhead;
    double first = call->bytes > intake.unasked ? 2 * hop : hop;
    return first + bytes * link->per_byte + link->overhead;
}

static int run(const coll_gather_call *call, const coll_values *values) {
    coll_intake intake = intake_of(call->shape, call->comm->profile, values);
    return call->comm->rank == call->root ? coll_intake_run(call, &intake)
                                          : coll_intake_supply(call, &intake);
}

const coll_gather_algorithm coll_gather_credit = {
    .base = {.name = "credit",
             .summary = "the root grants a window of bytes to the ranks in rack order",
             .params = params,
             .sizeless = true,
             .predict = predict},
    .run = run,
};
