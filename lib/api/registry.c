/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of libcoll: the operations, their algorithms, and the slots of every communicator. The
 * only file that includes headers of the folders of all operations.
 */
#include "config.h"

#include "cdcp/dcp_allreduce.h"
#include "hlot/bcast_runtime.h"
#include "hlot/site_state.h"
#include "hlot/sites.h"
#include "lib/aggregate/aggregate.h"
#include "lib/algorithm/operations.h"
#include "lib/algorithm/rank_order.h"
#include "lib/allgather/allgather.h"
#include "lib/allreduce/allreduce.h"
#include "lib/alltoall/alltoall.h"
#include "lib/barrier/barrier.h"
#include "lib/base/error.h"
#include "lib/bcast/bcast.h"
#include "lib/bcast/reliable/chain_confirmed.h"
#include "lib/call/args.h"
#include "lib/call/request.h"
#include "lib/gather/gather.h"
#include "lib/gather/intake.h"
#include "lib/neighbor/neighbor.h"
#include "lib/reduce/reduce.h"
#include "lib/reduce_scatter/reduce_scatter.h"
#include "lib/report/report.h"
#include "lib/scan/scan.h"
#include "lib/scatter/scatter.h"
#include "lib/topology/graph.h"
#include "lib/tuning/autotune.h"
#include "lib/tuning/state.h"

#include <string.h>

static const coll_algorithm *const bcast_table[] = {
    &coll_bcast_native,
    &coll_bcast_linear,
    &coll_bcast_binomial,
    &coll_bcast_scatter_allgather,
    &coll_bcast_chain,
    &coll_bcast_circulant,
    &coll_bcast_two_tree,
    &coll_bcast_multi_leader,
    &hlot_bcast_flat,
    &hlot_bcast_hlot,
    NULL,
};

static const coll_algorithm *const gather_table[] = {
    &coll_gather_native, &coll_gather_linear, &coll_gather_binomial,
    &coll_gather_window, &coll_gather_credit, NULL,
};

static const coll_algorithm *const aggregate_table[] = {
    &coll_aggregate_three_stage.base,
    &coll_aggregate_group_by.base,
    &coll_aggregate_direct.base,
    NULL,
};

static const coll_algorithm *const allreduce_table[] = {
    &coll_allreduce_native,
    &coll_allreduce_ring,
    &coll_allreduce_racks,
    &coll_allreduce_recursive_doubling,
    &coll_allreduce_halving,
    &coll_allreduce_circulant,
    &coll_allreduce_circulant_levels,
    &coll_allreduce_two_level,
    &coll_allreduce_three_level,
    &coll_allreduce_multi_leader,
    &coll_allreduce_node_shares,
    &hlot_allreduce_all_sites,
    &hlot_allreduce_sites,
    &coll_allreduce_chain,
    &coll_allreduce_binomial,
    &coll_allreduce_dcp,
    NULL,
};

static const coll_algorithm *const reduce_table[] = {
    &coll_reduce_native,
    &coll_reduce_chain,
    &coll_reduce_two_tree,
    &coll_reduce_binomial,
    &coll_reduce_multi_leader,
    &hlot_reduce_sites,
    NULL,
};

static const coll_algorithm *const reduce_scatter_table[] = {
    &coll_reduce_scatter_native,       &coll_reduce_scatter_ring,
    &coll_reduce_scatter_circulant,    &coll_reduce_scatter_pairwise,
    &coll_reduce_scatter_multi_leader, NULL,
};

static const coll_algorithm *const allgather_table[] = {
    &coll_allgather_native, &coll_allgather_ring,         &coll_allgather_sparbit,
    &coll_allgather_bruck,  &coll_allgather_multi_leader, NULL};

static const coll_algorithm *const alltoall_table[] = {
    &coll_alltoall_native, &coll_alltoall_pairwise,     &coll_alltoall_racks, &coll_alltoall_bruck,
    &coll_alltoall_linear, &coll_alltoall_multi_leader, &coll_alltoall_tuna,  NULL};

static const coll_algorithm *const scatter_table[] = {&coll_scatter_native, &coll_scatter_straight,
                                                      &coll_scatter_binomial, NULL};

static const coll_algorithm *const barrier_table[] = {
    &coll_barrier_native,       &coll_barrier_dissemination, &coll_barrier_racks,
    &coll_barrier_multi_leader, &hlot_barrier_all_sites,     NULL,
};

static const coll_algorithm *const scan_table[] = {
    &coll_scan_native,
    &coll_scan_linear,
    &coll_scan_recursive_doubling,
    NULL,
};

static const coll_algorithm *const neighbor_allgather_table[] = {
    &coll_neighbor_allgather_native,
    &coll_neighbor_linear,
    &coll_neighbor_combined,
    NULL,
};

static const coll_algorithm *const neighbor_alltoall_table[] = {
    &coll_neighbor_alltoall_native,
    &coll_neighbor_linear,
    &coll_neighbor_combined,
    NULL,
};

static const coll_algorithm *const exscan_table[] = {
    &coll_exscan_native,
    &coll_scan_linear,
    &coll_scan_recursive_doubling,
    NULL,
};

#define ONE COLL_SIDE_ONE
#define BLOCKS COLL_SIDE_BLOCKS

/* The common members of all operations except aggregate. */
#define COLLECTIVE(what, setting, ...)                                                             \
    {                                                                                              \
        .name = #what, .variable = "COLL_" #setting, .info_key = "coll_" #what,                    \
        .table = what##_table, __VA_ARGS__                                                         \
    }

const coll_operation_info coll_operations[COLL_OPERATIONS] = {
    [COLL_OPERATION_BCAST] = COLLECTIVE(bcast, BCAST, .sides = {.data = ONE, .root_data = ONE}),
    [COLL_OPERATION_GATHER] =
        COLLECTIVE(gather, GATHER, .sides = {.data = ONE, .root_data = BLOCKS}, .blocks = true),
    [COLL_OPERATION_AGGREGATE] = {.name = "aggregate",
                                  .variable = "COLL_AGGREGATE",
                                  .info_key = "coll_aggregate",
                                  .table = aggregate_table,
                                  .uneven = true,
                                  .errors_agreed = true},
    [COLL_OPERATION_ALLREDUCE] =
        COLLECTIVE(allreduce, ALLREDUCE, .sides = {.data = ONE, .root_data = ONE}, .rootless = true,
                   .reduces = true),
    [COLL_OPERATION_REDUCE] =
        COLLECTIVE(reduce, REDUCE, .sides = {.root_data = ONE, .input = ONE, .root_input = ONE},
                   .reduces = true),
    [COLL_OPERATION_REDUCE_SCATTER] =
        COLLECTIVE(reduce_scatter, REDUCE_SCATTER,
                   .sides = {.data = ONE, .root_data = ONE, .input = BLOCKS, .root_input = BLOCKS},
                   .rootless = true, .reduces = true),
    [COLL_OPERATION_ALLGATHER] = COLLECTIVE(
        allgather, ALLGATHER, .sides = {.data = BLOCKS, .root_data = BLOCKS}, .rootless = true),
    [COLL_OPERATION_ALLTOALL] = COLLECTIVE(
        alltoall, ALLTOALL,
        .sides = {.data = BLOCKS, .root_data = BLOCKS, .input = BLOCKS, .root_input = BLOCKS},
        .rootless = true),
    [COLL_OPERATION_SCATTER] =
        COLLECTIVE(scatter, SCATTER, .sides = {.data = ONE, .root_input = BLOCKS}),
    [COLL_OPERATION_BARRIER] = COLLECTIVE(barrier, BARRIER, .rootless = true),
    [COLL_OPERATION_SCAN] = COLLECTIVE(scan, SCAN, .sides = {.data = ONE, .root_data = ONE},
                                       .rootless = true, .reduces = true),
    [COLL_OPERATION_EXSCAN] = COLLECTIVE(
        exscan, EXSCAN, .sides = {.data = ONE, .root_data = ONE, .input = ONE, .root_input = ONE},
        .rootless = true, .reduces = true),
    [COLL_OPERATION_NEIGHBOR_ALLGATHER] =
        COLLECTIVE(neighbor_allgather, NEIGHBOR_ALLGATHER,
                   .sides = {.data = BLOCKS, .root_data = BLOCKS, .input = ONE, .root_input = ONE},
                   .rootless = true, .neighbors = true),
    [COLL_OPERATION_NEIGHBOR_ALLTOALL] = COLLECTIVE(
        neighbor_alltoall, NEIGHBOR_ALLTOALL,
        .sides = {.data = BLOCKS, .root_data = BLOCKS, .input = BLOCKS, .root_input = BLOCKS},
        .rootless = true, .neighbors = true),
};

int coll_find_operation(const char *name, coll_operation *operation) {
    char known[200] = "";
    for (int i = 0; i < COLL_OPERATIONS; i++) {
        coll_error_list(known, sizeof known, coll_operations[i].name);
        if (strcmp(coll_operations[i].name, name) == 0) {
            *operation = (coll_operation)i;
            return MPI_SUCCESS;
        }
    }
    return coll_error(MPI_ERR_ARG, "unknown operation %s; known: %s", name, known);
}

coll_comm_key *const coll_comm_keys[] = {
    &coll_state_key,           &coll_rank_order_key,
    &coll_chain_confirmed_key, &coll_intake_share_key,
    &hlot_site_state_key,      &coll_request_key,
    &coll_autotune_key,        &coll_report_key,
    &coll_graph_key,           NULL,
};
