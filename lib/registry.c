/*
 * What libcoll is made of: the operations, their algorithms, and what hangs on every communicator.
 * The one file that knows all rooms.
 */
#include "config.h"

#include "hlot/relay.h"
#include "hlot/wide.h"
#include "lib/aggregate/aggregate.h"
#include "lib/algorithm/line.h"
#include "lib/bcast/bcast.h"
#include "lib/bcast/chain_confirmed.h"
#include "lib/gather/gather.h"
#include "lib/gather/intake.h"
#include "lib/operation/operations.h"
#include "lib/operation/pending.h"
#include "lib/operation/state.h"

#include <limits.h>

const coll_algorithm *const coll_bcast_table[] = {
    &coll_bcast_native.base,
    &coll_bcast_linear.base,
    &coll_bcast_binomial.base,
    &coll_bcast_scatter_allgather.base,
    &coll_bcast_chain.base,
    &coll_bcast_circulant.base,
    &coll_bcast_two_tree.base,
    &coll_bcast_bine.base,
    &hlot_bcast_flat.base,
    &hlot_bcast_hlot.base,
    NULL,
};

const coll_algorithm *const coll_gather_table[] = {
    &coll_gather_native.base, &coll_gather_linear.base, &coll_gather_binomial.base,
    &coll_gather_window.base, &coll_gather_credit.base, NULL,
};

const coll_algorithm *const coll_aggregate_table[] = {
    &coll_aggregate_three_stage.base,
    &coll_aggregate_group_by.base,
    &coll_aggregate_direct.base,
    NULL,
};

static int run_bcast(const coll_algorithm *algorithm, const void *call, const coll_values *values) {
    return coll_bcast_run(algorithm, call, values);
}

static int run_gather(const coll_algorithm *algorithm, const void *call,
                      const coll_values *values) {
    return coll_gather_run(algorithm, call, values);
}

static int run_aggregate(const coll_algorithm *algorithm, const void *call,
                         const coll_values *values) {
    return coll_aggregate_run(call, coll_aggregate_of(algorithm), values);
}

/* The MPI library's gather passes blocks of up to 4 KB whole, whatever the number of ranks. */
const coll_operation_info coll_operations[COLL_OPERATIONS] = {
    [COLL_OPERATION_BCAST] = {.name = "bcast",
                              .variable = "COLL_BCAST",
                              .info_key = "coll_bcast",
                              .table = coll_bcast_table,
                              .run = run_bcast,
                              .bytes = coll_bcast_bytes,
                              .open = coll_bcast_open,
                              .direct_up_to = INT_MAX},
    [COLL_OPERATION_GATHER] = {.name = "gather",
                               .variable = "COLL_GATHER",
                               .info_key = "coll_gather",
                               .table = coll_gather_table,
                               .run = run_gather,
                               .bytes = coll_gather_bytes,
                               .open = coll_gather_open,
                               .direct_up_to = 4 << 10,
                               .blocks = true},
    [COLL_OPERATION_AGGREGATE] = {.name = "aggregate",
                                  .variable = "COLL_AGGREGATE",
                                  .info_key = "coll_aggregate",
                                  .table = coll_aggregate_table,
                                  .run = run_aggregate,
                                  .uneven = true,
                                  .errors_agreed = true},
};

coll_comm_key *const coll_comm_keys[] = {
    &coll_state_key,
    &coll_line_key,
    &coll_chain_confirmed_key,
    &coll_intake_share_key,
    &hlot_wide_key,
    &coll_pending_key,
    NULL,
};
