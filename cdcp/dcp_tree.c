/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations that DCPs compute with a tree over the ranks (cdcp/reduction_tree.h). The items of
 * the DCPs' messages are nodes of the tree, each with its value.
 *
 * An allreduce combines the values of all ranks by recursive multiplying, until each DCP has one
 * node, the result. A broadcast has one value, its root's, and uses the same exchange: it too
 * completes only when all ranks have posted, so that a mismatch is found on all ranks. In a
 * reduce_scatter, a DCP combines all blocks of its own ranks and sends each other DCP the blocks
 * for that DCP's ranks. It uses the same tree, so the bits are those of an allreduce.
 */
#include "config.h"

#include "cdcp/dcp_call.h"

#include "cdcp/dcp_operation.h"
#include "cdcp/operands.h"
#include "lib/base/error.h"

#include <stdio.h>
#include <string.h>

static int no_memory(void) {
    return coll_error(MPI_ERR_NO_MEM, "a dedicated processor has no memory for values");
}

/*
 * Sets *INTO to *WITH op *INTO, computed by the MPI library, so that the result has exactly the
 * bits of the MPI library's own operation.
 */
static int reduce_local(void *into, const void *with, int count, const coll_dcp_call *call) {
    int operand = coll_dcp_detail_of(call->code);
    return PMPI_Reduce_local(with, into, count, coll_operands_type(operand),
                             coll_operands_op(operand));
}

static int add_node(coll_dcp_call *call, coll_reduction_tree *tree, coll_wire_node node,
                    const void *value, coll_reduction_tree_combine *combine_values) {
    int error;
    if (!coll_reduction_tree_add(tree, node.first, node.height, value, combine_values, call,
                                 &error))
        return no_memory();
    return error;
}

static coll_wire_node leaf_of(const coll_dcp_call *call, int place) {
    return (coll_wire_node){.first = call->comm->own[place], .height = 0};
}

static int begin_tree(coll_reduction_tree *tree, int leaves, size_t bytes, int capacity) {
    return coll_reduction_tree_begin(tree, leaves, bytes, capacity) ? MPI_SUCCESS : no_memory();
}

static char *put_node(char *body, const coll_reduction_tree_node *node) {
    const coll_wire_node item = {node->first, node->height};
    return coll_dcp_put(body, &item, sizeof item);
}

/* Adds the items of a message, with values of BYTES each, to TREE. */
static int add_items(coll_dcp_call *call, coll_reduction_tree *tree, const coll_wire_header *header,
                     const char *body, size_t bytes, coll_reduction_tree_combine *combine_values) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < header->items && code == MPI_SUCCESS; i++) {
        coll_wire_node node;
        memcpy(&node, body, sizeof node);
        body += sizeof node;
        code = add_node(call, tree, node, body, combine_values);
        body += bytes;
    }
    return code;
}

static void describe_operands(int32_t code, int32_t count, char *text, size_t size) {
    int operand = coll_dcp_detail_of(code);
    snprintf(text, size, "%d of %s to %s", count, coll_operands_type_name(operand),
             coll_operands_op_name(operand));
}

static size_t operand_bytes(const coll_dcp_call *call) {
    return (size_t)call->count * coll_operands_extent(coll_dcp_detail_of(call->code));
}

/* --- Operations in which all stations get the same values --- */

static int combine_values(void *into, const void *with, void *context) {
    const coll_dcp_call *call = context;
    return reduce_local(into, with, call->count, call);
}

static int count_nodes(const coll_dcp_call *call, int station, size_t *bytes) {
    (void)station;
    *bytes = sizeof(coll_wire_node) + call->bytes;
    return call->tree.count;
}

static void pack_nodes(const coll_dcp_call *call, int station, int first, int count, char *body) {
    (void)station;
    for (int i = first; i < first + count; i++) {
        body = put_node(body, &call->tree.nodes[i]);
        body = coll_dcp_put(body, coll_reduction_tree_value(&call->tree, i), call->bytes);
    }
}

static int absorb_nodes(coll_dcp_call *call, const coll_wire_header *header, const char *body) {
    return add_items(call, &call->tree, header, body, call->bytes, combine_values);
}

/* --- Allreduce --- */

static int begin_allreduce(coll_dcp_call *call) {
    call->bytes = operand_bytes(call);
    return begin_tree(&call->tree, call->comm->ranks, call->bytes, call->comm->here);
}

static int take_addend(coll_dcp_call *call, int place, const void *values) {
    return add_node(call, &call->tree, leaf_of(call, place), values, combine_values);
}

static size_t allreduce_result(const coll_dcp_call *call, int place, const void **result) {
    (void)place;
    *result = coll_reduction_tree_value(&call->tree, 0);
    return call->bytes;
}

const coll_dcp_service coll_dcp_allreduce = {
    .name = "allreduce",
    .describe = describe_operands,
    .begin = begin_allreduce,
    .take = take_addend,
    .items = count_nodes,
    .pack = pack_nodes,
    .absorb = absorb_nodes,
    .result = allreduce_result,
};

/* --- Broadcast: a tree of one leaf --- */

static void describe_bcast(int32_t code, int32_t count, char *text, size_t size) {
    snprintf(text, size, "%d bytes from root %d", count, coll_dcp_detail_of(code));
}

static int begin_bcast(coll_dcp_call *call) {
    call->bytes = (size_t)call->count;
    return begin_tree(&call->tree, 1, call->bytes, 1);
}

static bool is_root(const coll_dcp_call *call, int place) {
    return call->comm->own[place] == coll_dcp_detail_of(call->code);
}

static int take_from_root(coll_dcp_call *call, int place, const void *values) {
    const coll_wire_node leaf = {0, 0};
    return is_root(call, place) ? add_node(call, &call->tree, leaf, values, NULL) : MPI_SUCCESS;
}

static size_t bcast_result(const coll_dcp_call *call, int place, const void **result) {
    *result = coll_reduction_tree_value(&call->tree, 0);
    return is_root(call, place) ? 0 : call->bytes;
}

const coll_dcp_service coll_dcp_bcast = {
    .name = "bcast",
    .describe = describe_bcast,
    .begin = begin_bcast,
    .take = take_from_root,
    .items = count_nodes,
    .pack = pack_nodes,
    .absorb = absorb_nodes,
    .result = bcast_result,
};

/* --- Reduce_scatter of equal blocks. TREE: all blocks; SHARE: blocks for this DCP's ranks --- */

static int combine_all_blocks(void *into, const void *with, void *context) {
    const coll_dcp_call *call = context;
    return reduce_local(into, with, call->count * call->comm->ranks, call);
}

static int combine_share(void *into, const void *with, void *context) {
    const coll_dcp_call *call = context;
    return reduce_local(into, with, call->count * call->comm->here, call);
}

static size_t share_bytes(const coll_dcp_call *call, int station) {
    return (size_t)coll_server_comm_served_by(call->comm, station) * call->bytes;
}

static int begin_reduce_scatter(coll_dcp_call *call) {
    const coll_server_comm *comm = call->comm;
    call->bytes = operand_bytes(call);
    int code = begin_tree(&call->tree, comm->ranks, (size_t)comm->ranks * call->bytes, comm->here);
    size_t bytes = share_bytes(call, comm->position);
    return code == MPI_SUCCESS ? begin_tree(&call->share, comm->ranks, bytes, comm->here) : code;
}

static int take_blocks(coll_dcp_call *call, int place, const void *values) {
    return add_node(call, &call->tree, leaf_of(call, place), values, combine_all_blocks);
}

static int count_shares(const coll_dcp_call *call, int station, size_t *bytes) {
    *bytes = sizeof(coll_wire_node) + share_bytes(call, station);
    return call->tree.count;
}

static void pack_share(const coll_dcp_call *call, int station, int first, int count, char *body) {
    const int *ranks = coll_server_comm_ranks_of(call->comm, station);
    int served = coll_server_comm_served_by(call->comm, station);
    for (int i = first; i < first + count; i++) {
        const char *blocks = coll_reduction_tree_value(&call->tree, i);
        body = put_node(body, &call->tree.nodes[i]);
        for (int j = 0; j < served; j++)
            body = coll_dcp_put(body, blocks + (size_t)ranks[j] * call->bytes, call->bytes);
    }
}

static int absorb_share(coll_dcp_call *call, const coll_wire_header *header, const char *body) {
    return add_items(call, &call->share, header, body, share_bytes(call, call->comm->position),
                     combine_share);
}

static size_t reduce_scatter_result(const coll_dcp_call *call, int place, const void **result) {
    *result =
        (const char *)coll_reduction_tree_value(&call->share, 0) + (size_t)place * call->bytes;
    return call->bytes;
}

static int radix_of_direct_exchange(const coll_server_comm *comm) {
    return comm->stations;
}

const coll_dcp_service coll_dcp_reduce_scatter = {
    .name = "reduce_scatter",
    .radix = radix_of_direct_exchange,
    .describe = describe_operands,
    .begin = begin_reduce_scatter,
    .take = take_blocks,
    .items = count_shares,
    .pack = pack_share,
    .absorb = absorb_share,
    .result = reduce_scatter_result,
};
