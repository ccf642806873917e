/*
 * What libcoll is made of: the operations, their algorithms, and what hangs on every communicator.
 * The one file that knows all rooms.
 */
#include "config.h"

#include "hlot/bcast.h"
#include "hlot/wide.h"
#include "lib/aggregate/aggregate.h"
#include "lib/algorithm/line.h"
#include "lib/bcast/bcast.h"
#include "lib/bcast/chain_confirmed.h"
#include "lib/gather/gather.h"
#include "lib/gather/intake.h"
#include "lib/operation/operation.h"
#include "lib/operation/state.h"

/* The first of each table applies to every call and is what libcoll stands back to. */
const coll_algorithm *const coll_bcast_table[] = {
    &coll_bcast_native.base,   &coll_bcast_linear.base,
    &coll_bcast_binomial.base, &coll_bcast_scatter_allgather.base,
    &coll_bcast_chain.base,    &coll_bcast_circulant.base,
    &coll_bcast_two_tree.base, &hlot_bcast_flat.base,
    &hlot_bcast_hlot.base,     NULL,
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

const coll_operation_info coll_operations[COLL_OPERATIONS] = {
    [COLL_OPERATION_BCAST] = {"bcast", "COLL_BCAST", "coll_bcast", coll_bcast_table},
    [COLL_OPERATION_GATHER] = {"gather", "COLL_GATHER", "coll_gather", coll_gather_table},
    [COLL_OPERATION_AGGREGATE] = {"aggregate", "COLL_AGGREGATE", "coll_aggregate",
                                  coll_aggregate_table},
};

coll_comm_key *const coll_comm_keys[] = {
    &coll_state_key,        &coll_line_key, &coll_chain_confirmed_key,
    &coll_intake_share_key, &hlot_wide_key, NULL,
};
