/* The operations' public entries: they check the arguments. */
#include "config.h"

#include "coll.h"
#include "lib/aggregate/aggregate.h"
#include "lib/aggregate/pool.h"
#include "lib/arguments.h"
#include "lib/base/data.h"
#include "lib/base/error.h"
#include "lib/bcast/bcast.h"
#include "lib/gather/gather.h"
#include "lib/operation/call.h"
#include "lib/operation/direct.h"
#include "lib/operation/state.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int bcast(coll_comm *comm, const void *buffer, MPI_Count count, MPI_Datatype type,
                 int root) {
    coll_data data;
    int code = coll_direct_data(comm, &data, buffer, count, type);
    coll_shape shape =
        coll_state_shape(coll_state_of(comm), COLL_OPERATION_BCAST, data.bytes, root);
    coll_bcast_call call = {.comm = comm, .root = root, .shape = &shape, .data = &data};
    if (code == MPI_SUCCESS && data.bytes > 0 && comm->ranks > 1)
        code = coll_call_run(comm, COLL_OPERATION_BCAST, &shape, data.bytes, &call);
    coll_data_close(&data);
    return code;
}

int COLL_Bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
    int bytes;
    const coll_comm *direct = coll_direct(COLL_OPERATION_BCAST, comm, count, type, root, &bytes);
    if (direct)
        return coll_raise(comm, PMPI_Bcast(buffer, bytes, MPI_BYTE, root, direct->private));
    coll_comm *own;
    int code = coll_call_open(comm, &own);
    if (code != MPI_SUCCESS)
        return code;
    if (!own)
        return count > INT_MAX ? coll_raise(comm, coll_too_many())
                               : PMPI_Bcast(buffer, (int)count, type, root, comm);
    code = coll_check_bcast(buffer, count, type, root, own->ranks);
    if (code == MPI_SUCCESS)
        code = bcast(own, buffer, count, type, root);
    return coll_raise(comm, code);
}

static int run_gather(coll_comm *comm, size_t bytes, coll_gather_call *call) {
    coll_shape shape =
        coll_state_shape(coll_state_of(comm), COLL_OPERATION_GATHER, bytes, call->root);
    call->comm = comm;
    call->shape = &shape;
    return coll_call_run(comm, COLL_OPERATION_GATHER, &shape, bytes, call);
}

/* What a rank other than the root gives. */
static int give(coll_comm *comm, const void *buffer, MPI_Count count, MPI_Datatype type, bool even,
                int root) {
    coll_data mine;
    int code = coll_direct_data(comm, &mine, buffer, count, type);
    coll_gather_call call = {.root = root, .mine = &mine, .type = type};
    if (code == MPI_SUCCESS && (mine.bytes > 0 || !even))
        code = run_gather(comm, even ? mine.bytes : COLL_BYTES_UNKNOWN, &call);
    coll_data_close(&mine);
    return code;
}

/* Puts the root's own data into its own block. */
static int give_oneself(coll_comm *comm, const coll_blocks *blocks, int root, const void *buffer,
                        MPI_Count count, MPI_Datatype type) {
    if (buffer == MPI_IN_PLACE)
        return MPI_SUCCESS;
    coll_data mine, block = coll_blocks_at(blocks, root);
    int code = coll_direct_data(comm, &mine, buffer, count, type);
    if (code == MPI_SUCCESS)
        code = coll_check_own(mine.bytes, block.bytes);
    if (code == MPI_SUCCESS)
        coll_data_copy(&block, &mine);
    coll_data_close(&mine);
    return code;
}

static int take(coll_comm *comm, const void *buffer, MPI_Count count, MPI_Datatype type,
                const coll_blocks_layout *layout, int root) {
    coll_blocks blocks;
    bool even = !layout->counts;
    int code = coll_blocks_open(&blocks, layout, comm->ranks);
    size_t bytes = even ? coll_blocks_longest(&blocks) : COLL_BYTES_UNKNOWN;
    coll_gather_call call = {.root = root, .blocks = &blocks};
    if (code == MPI_SUCCESS)
        code = give_oneself(comm, &blocks, root, buffer, count, type);
    if (code == MPI_SUCCESS && comm->ranks > 1 && bytes > 0)
        code = run_gather(comm, bytes, &call);
    coll_blocks_close(&blocks);
    return code;
}

static int gather(const void *buffer, MPI_Count count, MPI_Datatype type,
                  const coll_blocks_layout *layout, bool even, int root, MPI_Comm comm,
                  coll_comm *own) {
    int code = coll_check_gather(buffer, count, type, layout, root, own);
    if (code == MPI_SUCCESS && own->rank == root)
        code = take(own, buffer, count, type, layout, root);
    else if (code == MPI_SUCCESS)
        code = give(own, buffer, count, type, even, root);
    return coll_raise(comm, code);
}

int COLL_Gather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                MPI_Comm comm) {
    int bytes;
    const coll_comm *direct =
        coll_direct(COLL_OPERATION_GATHER, comm, send_count, send_type, root, &bytes);
    bool receives = direct && direct->rank == root;
    if (direct && send_buffer != MPI_IN_PLACE &&
        (!receives || (receive_count == send_count && receive_type == send_type)))
        return coll_raise(comm, PMPI_Gather(send_buffer, bytes, MPI_BYTE, receive_buffer,
                                            receives ? bytes : 0, MPI_BYTE, root, direct->private));
    coll_comm *own;
    int code = coll_call_open(comm, &own);
    if (code != MPI_SUCCESS)
        return code;
    if (!own && (send_count > INT_MAX || receive_count > INT_MAX))
        return coll_raise(comm, coll_too_many());
    if (!own)
        return PMPI_Gather(send_buffer, (int)send_count, send_type, receive_buffer,
                           (int)receive_count, receive_type, root, comm);
    coll_blocks_layout layout = {
        .buffer = receive_buffer, .count = receive_count, .type = receive_type};
    return gather(send_buffer, send_count, send_type, &layout, true, root, comm, own);
}

static int gatherv_between(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                           const coll_blocks_layout *layout, int root, MPI_Comm comm) {
    int *counts, *places, code = coll_int_counts(layout, send_count, root, comm, &counts, &places);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);
    code = PMPI_Gatherv(send_buffer, (int)send_count, send_type, layout->buffer, counts, places,
                        layout->type, root, comm);
    free(counts);
    return code;
}

int COLL_Gatherv(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                 void *receive_buffer, const MPI_Count receive_counts[],
                 const MPI_Aint displacements[], MPI_Datatype receive_type, int root,
                 MPI_Comm comm) {
    coll_comm *own;
    int code = coll_call_open(comm, &own);
    if (code != MPI_SUCCESS)
        return code;
    coll_blocks_layout layout = {.buffer = receive_buffer,
                                 .counts = receive_counts,
                                 .places = displacements,
                                 .type = receive_type};
    if (!own)
        return gatherv_between(send_buffer, send_count, send_type, &layout, root, comm);
    return gather(send_buffer, send_count, send_type, &layout, false, root, comm, own);
}

int COLL_Aggregate(COLL_Pool *pool, int root, MPI_Comm comm, COLL_Aggregate_stats *stats) {
    coll_comm *own;
    int code = coll_call_open_intra(comm, "COLL_Aggregate", &own);
    if (code != MPI_SUCCESS)
        return code;
    coll_shape shape =
        coll_state_shape(coll_state_of(own), COLL_OPERATION_AGGREGATE, COLL_BYTES_UNKNOWN, root);
    coll_aggregate_call call = {.pool = pool, .comm = own, .shape = &shape, .stats = stats};
    size_t bytes = pool ? coll_pool_bytes(pool) : 0;
    return coll_raise(comm, coll_call_run(own, COLL_OPERATION_AGGREGATE, &shape, bytes, &call));
}
