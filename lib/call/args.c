/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/call/args.h"

#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/base/reserve_alloc.h"
#include "lib/plan/engine.h"
#include "lib/topology/graph.h"
#include "lib/tuning/select.h"
#include "lib/tuning/state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const coll_call_args *call) {
    return coll_operations[call->operation].name;
}

static bool is_root(const coll_call_args *call) {
    return coll_operations[call->operation].rootless || call->comm->rank == call->user->root;
}

static const coll_uneven *uneven_of(const coll_user *user) {
    static const coll_uneven nothing;
    return user->uneven ? user->uneven : &nothing;
}

/* --- Arguments --- */

/* Returns the number of blocks of this rank's input if INPUT, else of its data. */
static int count_blocks(const coll_call_args *call, bool input) {
    const coll_graph *graph = call->shape.graph;
    return !coll_operations[call->operation].neighbors ? call->comm->ranks
           : input                                     ? graph->out
                                                       : graph->in;
}

/* Checks the counts and datatypes of MANY blocks. */
static int check_blocks(const coll_call_args *call, const char *direction,
                        const coll_blocks_layout *layout, int many) {
    for (int i = 0; i < (layout->counts ? many : 1); i++) {
        const MPI_Count length = layout->counts ? layout->counts[i] : layout->count;
        const MPI_Datatype type = layout->types ? layout->types[i] : layout->type;
        if (type == MPI_DATATYPE_NULL && (!layout->types || length != 0))
            return coll_error(MPI_ERR_TYPE, "%s: null datatype to %s", name_of(call), direction);
        if (length < 0)
            return coll_error(MPI_ERR_COUNT, "%s: %lld elements to %s", name_of(call),
                              (long long)length, direction);
    }
    return MPI_SUCCESS;
}

static coll_blocks_layout receive_layout(const coll_user *user) {
    return (coll_blocks_layout){.buffer = user->receive,
                                .count = user->receive_count,
                                .counts = uneven_of(user)->receive_counts,
                                .places = uneven_of(user)->receive_places,
                                .type = user->receive_type,
                                .types = uneven_of(user)->receive_types};
}

static coll_blocks_layout send_layout(const coll_user *user) {
    return (coll_blocks_layout){.buffer = coll_data_read_only(user->send),
                                .count = user->send_count,
                                .counts = uneven_of(user)->send_counts,
                                .places = uneven_of(user)->send_places,
                                .type = user->send_type,
                                .types = uneven_of(user)->send_types};
}

/* Checks that MPI_IN_PLACE is only the send buffer and, if there is a root, only the root's (in a
 * broadcast, any rank's). In a scatter it may only be the root's receive buffer, and in a
 * neighbourhood collective no buffer. */
static int check_places(const coll_call_args *call, bool receives) {
    const coll_user *user = call->user;
    bool scatters = call->operation == COLL_OPERATION_SCATTER;
    if (user->send == MPI_IN_PLACE && coll_operations[call->operation].neighbors)
        return coll_error(MPI_ERR_BUFFER, "%s: MPI_IN_PLACE to send", name_of(call));
    if (user->send == MPI_IN_PLACE && is_root(call) == scatters &&
        call->operation != COLL_OPERATION_BCAST)
        return coll_error(MPI_ERR_BUFFER, "%s: MPI_IN_PLACE to send at rank %d, %s", name_of(call),
                          call->comm->rank, scatters ? "the root" : "which is not the root");
    if (receives && user->receive == MPI_IN_PLACE && !(scatters && is_root(call)))
        return coll_error(MPI_ERR_BUFFER, "%s: MPI_IN_PLACE to receive", name_of(call));
    return MPI_SUCCESS;
}

static int check_arguments(const coll_call_args *call) {
    const coll_operation_info *info = &coll_operations[call->operation];
    const coll_user *user = call->user;
    bool reduces = info->reduces, scatters = call->operation == COLL_OPERATION_SCATTER;
    if (call->operation == COLL_OPERATION_BARRIER)
        return MPI_SUCCESS;
    if (!info->rootless && (user->root < 0 || user->root >= call->comm->ranks))
        return coll_error(MPI_ERR_ROOT, "%s: root %d of %d ranks", info->name, user->root,
                          call->comm->ranks);
    if (reduces && user->op == MPI_OP_NULL)
        return coll_error(MPI_ERR_OP, "%s: null operation", info->name);
    bool receives = call->operation != COLL_OPERATION_GATHER || is_root(call);
    coll_blocks_layout layout = receive_layout(user);
    int code = check_places(call, receives);
    if (code == MPI_SUCCESS && receives && user->receive != MPI_IN_PLACE)
        code = check_blocks(call, "receive", &layout, count_blocks(call, false));
    bool sends = !reduces && user->send != MPI_IN_PLACE && (!scatters || is_root(call));
    layout = send_layout(user);
    if (code == MPI_SUCCESS && sends)
        code = check_blocks(call, "send", &layout, count_blocks(call, true));
    return code;
}

/*
 * Checks with an empty reduction that the MPI_Op is valid for the datatype, which only MPI knows.
 * The result is cached for the last pair of MPI_Op and datatype. Ranks may differ in what they have
 * cached, since a new handle can have the value of a freed one. So perhaps only some ranks make the
 * reduction; it must not wait for other ranks, and uses a communicator of this process alone.
 */
static int check_operation(coll_call_args *call) {
    coll_state *state = coll_state_of(call->comm);
    const coll_user *user = call->user;
    if (state->known_op == user->op && state->known_type == user->receive_type)
        return MPI_SUCCESS;
    char nothing;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one collective at a time */
    pthread_mutex_lock(&lock);
    int code =
        PMPI_Allreduce(MPI_IN_PLACE, &nothing, 0, user->receive_type, user->op, coll_comm_alone());
    pthread_mutex_unlock(&lock);
    if (code == MPI_SUCCESS) {
        state->known_op = user->op;
        state->known_type = user->receive_type;
    }
    return code;
}

/* --- Description --- */

static int open_reduction(coll_call_args *call) {
    int code = check_operation(call);
    if (code == MPI_SUCCESS)
        code = coll_reduction_open(&call->how, call->user->receive_type, call->user->op);
    call->reduction = &call->how;
    call->shape.element = call->how.element;
    call->shape.ordered |= call->how.ordered;
    call->shape.served = coll_call_args_served(call->operation, call->comm,
                                               call->user->receive_type, call->user->op);
    return code;
}

static int open_blocks(coll_call_args *call, const coll_blocks_layout *layout, bool input) {
    coll_blocks *blocks = input ? &call->inputs : &call->blocks;
    int code = coll_blocks_open(blocks, layout, count_blocks(call, input));
    *(input ? &call->has_inputs : &call->has_blocks) = code == MPI_SUCCESS;
    return code;
}

/* Remembers the datatype of DATA if it is plain, since later calls with it may take the fast path
 * (lib/api/coll.c). */
static void remember_type(const coll_call_args *call, const coll_data *data) {
    coll_state *state = coll_state_of(call->comm);
    if (!data->plain_bytes)
        return;
    state->plain_type = data->type;
    state->plain_bytes = data->plain_bytes;
}

/* Opens DATA, and checks that its datatype is committed, which only the MPI library knows. */
static int open_data(const coll_call_args *call, coll_data *data, const void *buffer,
                     MPI_Count count, MPI_Datatype type) {
    int code = coll_data_open(data, coll_data_read_only(buffer), count, type);
    if (code == MPI_SUCCESS && !data->plain_bytes) {
        char nothing = 0; /* not sent; a count of 1, since MPICH checks no type for a count of 0 */
        code = PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, call->comm->private);
        if (code != MPI_SUCCESS)
            coll_data_close(data);
        return code;
    }
    if (code == MPI_SUCCESS)
        remember_type(call, data);
    return code;
}

/*
 * Describes this rank's local copy, from the send buffer to INTO. There is none if the send buffer
 * is MPI_IN_PLACE.
 */
static int set_local_copy(coll_call_args *call, MPI_Count count, MPI_Datatype type,
                          coll_data into) {
    if (call->user->send == MPI_IN_PLACE) {
        remember_type(call, &into);
        return MPI_SUCCESS;
    }
    int code = open_data(call, &call->own, call->user->send, count, type);
    call->own_opened = code == MPI_SUCCESS;
    call->own_into = into;
    if (code == MPI_SUCCESS && call->own.bytes > into.bytes)
        return coll_error(MPI_ERR_TRUNCATE, "%s: %zu bytes of this rank into a block of %zu",
                          name_of(call), call->own.bytes, into.bytes);
    return code;
}

/* Describes the memory of COUNT elements, a reduction's in-place input. The input is copied at each
 * start, since the results may overwrite it. */
static void copy_elements(coll_call_args *call, MPI_Count count) {
    const MPI_Aint step = call->how.extent, span = count ? step * (MPI_Aint)(count - 1) : 0;
    call->copied = count ? (size_t)((span < 0 ? -span : span) + call->how.bytes) : 0;
    call->lowest = (char *)call->user->receive + call->how.lower + (span < 0 ? span : 0);
}

/*
 * Describes the copy of an alltoall's in-place input, to which the blocks are packed at each start.
 * They are packed because they need not be near each other in memory.
 */
static int open_packed_input(coll_call_args *call) {
    const int ranks = call->comm->ranks;
    const size_t each = sizeof(MPI_Aint) + sizeof(MPI_Count);
    call->packs = true;
    call->lowest = (char *)&call->lowest; /* not NULL; replaced by the copy before it is read */
    coll_blocks_layout layout = {.buffer = call->lowest, .type = MPI_BYTE};
    if (coll_blocks_even(&call->blocks)) {
        layout.count = (MPI_Count)coll_blocks_longest(&call->blocks);
        call->copied = (size_t)layout.count * (size_t)ranks;
        return open_blocks(call, &layout, true);
    }
    MPI_Aint *places = call->places = coll_reserve_alloc((size_t)ranks * each);
    if (!places)
        return coll_error(MPI_ERR_NO_MEM, "%s: no memory for %d displacements", name_of(call),
                          ranks);
    MPI_Count *counts = (MPI_Count *)(places + ranks);
    for (int rank = 0; rank < ranks; rank++) {
        counts[rank] = (MPI_Count)coll_blocks_bytes(&call->blocks, rank);
        places[rank] = (MPI_Aint)call->copied;
        call->copied += (size_t)counts[rank];
    }
    layout.counts = counts;
    layout.places = places;
    return open_blocks(call, &layout, true);
}

/* Describes a broadcast, an allreduce or a scan: its algorithms work in the data, to which the
 * rank's contribution is copied first. */
static int describe_data(coll_call_args *call) {
    const coll_user *user = call->user;
    int code = open_data(call, &call->data, user->receive, user->receive_count, user->receive_type);
    call->shape.bytes = call->data.bytes;
    return code == MPI_SUCCESS
               ? set_local_copy(call, user->receive_count, user->receive_type, call->data)
               : code;
}

/* Describes a reduce or an exscan, whose input is not in the data. In a reduce only the root has
 * data. In an exscan all ranks have data except rank 0, which gets no result and may pass no buffer
 * for it. In an exscan the input must be read before the results are written, so in-place input is
 * copied. */
static int describe_reduce(coll_call_args *call) {
    const coll_user *user = call->user;
    const bool in_place = user->send == MPI_IN_PLACE,
               excludes = call->operation == COLL_OPERATION_EXSCAN;
    int code = open_data(call, &call->input, in_place ? user->receive : user->send,
                         user->receive_count, user->receive_type);
    call->shape.bytes = call->input.bytes;
    if (code == MPI_SUCCESS && (excludes ? call->comm->rank > 0 : is_root(call)))
        code = open_data(call, &call->data, user->receive, user->receive_count, user->receive_type);
    if (code == MPI_SUCCESS && excludes && in_place)
        copy_elements(call, user->receive_count);
    if (!excludes && call->comm->ranks == 1 && !in_place) {
        call->own = call->input;
        call->own_into = call->data;
    }
    return code;
}

/* Sets the displacements of a reduce_scatter's blocks, which follow each other without gaps, and
 * *COUNT to the elements of all blocks. */
static int set_displacements(coll_call_args *call, coll_blocks_layout *layout, MPI_Count *count) {
    MPI_Aint next = 0;
    *count = layout->count * call->comm->ranks;
    if (!layout->counts)
        return MPI_SUCCESS;
    call->places = coll_reserve_alloc((size_t)call->comm->ranks * sizeof *call->places);
    if (!call->places)
        return coll_error(MPI_ERR_NO_MEM, "%s: no memory for %d displacements", name_of(call),
                          call->comm->ranks);
    for (int rank = 0; rank < call->comm->ranks; rank++) {
        call->places[rank] = next;
        next += (MPI_Aint)layout->counts[rank];
    }
    layout->places = call->places;
    *count = next;
    return MPI_SUCCESS;
}

/*
 * Returns the bytes of a block; if the sizes differ, their mean, rounded up. For operations in
 * which all ranks know all sizes.
 */
static size_t mean_block_bytes(const coll_blocks *blocks) {
    if (coll_blocks_even(blocks))
        return coll_blocks_longest(blocks);
    const size_t all = coll_blocks_sum(blocks), ranks = (size_t)blocks->ranks;
    return all / ranks + (all % ranks > 0);
}

static int describe_reduce_scatter(coll_call_args *call) {
    const coll_user *user = call->user;
    bool in_place = user->send == MPI_IN_PLACE;
    int rank = call->comm->rank;
    coll_blocks_layout layout = receive_layout(user);
    layout.buffer = in_place ? user->receive : coll_data_read_only(user->send);
    MPI_Count count;
    int code = set_displacements(call, &layout, &count);
    if (code == MPI_SUCCESS)
        code = open_blocks(call, &layout, true);
    if (code == MPI_SUCCESS && in_place)
        copy_elements(call, count);
    if (code == MPI_SUCCESS)
        code = open_data(call, &call->data, user->receive,
                         user->uneven ? user->uneven->receive_counts[rank] : user->receive_count,
                         user->receive_type);
    if (code != MPI_SUCCESS)
        return code;
    call->shape.bytes = mean_block_bytes(&call->inputs);
    call->shape.longest = user->uneven ? coll_blocks_longest(&call->inputs) : 0;
    if (call->comm->ranks == 1 && !in_place) {
        call->own = coll_blocks_at(&call->inputs, 0);
        call->own_into = call->data;
    }
    return MPI_SUCCESS;
}

static int describe_allgather(coll_call_args *call) {
    const coll_user *user = call->user;
    coll_blocks_layout layout = receive_layout(user);
    int code = open_blocks(call, &layout, false);
    if (code != MPI_SUCCESS)
        return code;
    call->shape.bytes = mean_block_bytes(&call->blocks);
    call->shape.longest = user->uneven ? coll_blocks_longest(&call->blocks) : 0;
    return set_local_copy(call, user->send_count, user->send_type,
                          coll_blocks_at(&call->blocks, call->comm->rank));
}

static int describe_gather(coll_call_args *call) {
    const coll_user *user = call->user;
    int code = is_root(call)
                   ? describe_allgather(call)
                   : open_data(call, &call->data, user->send, user->send_count, user->send_type);
    if (!is_root(call))
        call->shape.bytes = call->data.bytes;
    if (user->uneven) {
        call->shape.bytes = COLL_BYTES_UNKNOWN;
        call->shape.longest = 0;
    }
    return code;
}

static int describe_alltoall(coll_call_args *call) {
    const coll_user *user = call->user;
    bool in_place = user->send == MPI_IN_PLACE;
    int rank = call->comm->rank;
    coll_blocks_layout layout = receive_layout(user);
    int code = open_blocks(call, &layout, false);
    if (code != MPI_SUCCESS)
        return code;
    call->shape.bytes = user->uneven ? COLL_BYTES_UNKNOWN : coll_blocks_longest(&call->blocks);
    if (in_place)
        return open_packed_input(call);
    layout = send_layout(user);
    code = open_blocks(call, &layout, true);
    if (code != MPI_SUCCESS)
        return code;
    call->own = coll_blocks_at(&call->inputs, rank);
    call->own_into = coll_blocks_at(&call->blocks, rank);
    return call->own.bytes == call->own_into.bytes
               ? MPI_SUCCESS
               : coll_error(MPI_ERR_TRUNCATE, "%s: %zu bytes to this rank itself into %zu",
                            name_of(call), call->own.bytes, call->own_into.bytes);
}

static int describe_scatter(coll_call_args *call) {
    const coll_user *user = call->user;
    int code = MPI_SUCCESS;
    if (user->receive != MPI_IN_PLACE)
        code = open_data(call, &call->data, user->receive, user->receive_count, user->receive_type);
    call->shape.bytes = user->uneven ? COLL_BYTES_UNKNOWN : call->data.bytes;
    if (code != MPI_SUCCESS || !is_root(call))
        return code;
    coll_blocks_layout layout = send_layout(user);
    code = open_blocks(call, &layout, true);
    if (code != MPI_SUCCESS)
        return code;
    if (!user->uneven)
        call->shape.bytes = coll_blocks_longest(&call->inputs);
    if (user->receive == MPI_IN_PLACE)
        return MPI_SUCCESS;
    call->own = coll_blocks_at(&call->inputs, user->root);
    call->own_into = call->data;
    return call->own.bytes <= call->data.bytes
               ? MPI_SUCCESS
               : coll_error(MPI_ERR_TRUNCATE, "%s: %zu bytes of the root into %zu", name_of(call),
                            call->own.bytes, call->data.bytes);
}

/*
 * Describes a neighbourhood collective. Unless counts are given for each neighbour, all blocks have
 * the same size, so a rank that sends none takes the size from the blocks that it receives. If a
 * rank has neither, all ranks choose without the size, so that this rank chooses as the others do:
 * if they call the MPI library, it must call it, too, as MPICH counts such calls.
 */
static int describe_neighbors(coll_call_args *call) {
    const coll_user *user = call->user;
    const bool shares = call->operation == COLL_OPERATION_NEIGHBOR_ALLGATHER;
    coll_blocks_layout layout = receive_layout(user);
    int code = open_blocks(call, &layout, false);
    layout = send_layout(user);
    if (code == MPI_SUCCESS)
        code = shares ? open_data(call, &call->input, user->send, user->send_count, user->send_type)
                      : open_blocks(call, &layout, true);
    if (code != MPI_SUCCESS)
        return code;
    const size_t sent = shares ? call->input.bytes : coll_blocks_longest(&call->inputs),
                 received = coll_blocks_longest(&call->blocks);
    const coll_graph *graph = call->shape.graph;
    call->shape.bytes = user->uneven || graph->isolated ? COLL_BYTES_UNKNOWN
                        : graph->out > 0                ? sent
                                                        : received;
    return MPI_SUCCESS;
}

/* A barrier has no data. It counts as one byte, since calls of 0 bytes do nothing. */
static int describe_barrier(coll_call_args *call) {
    call->shape.bytes = 1;
    return MPI_SUCCESS;
}

static int describe_call(coll_call_args *call) {
    static int (*const by_operation[COLL_OPERATIONS])(coll_call_args * call) = {
        [COLL_OPERATION_BCAST] = describe_data,
        [COLL_OPERATION_GATHER] = describe_gather,
        [COLL_OPERATION_ALLREDUCE] = describe_data,
        [COLL_OPERATION_SCAN] = describe_data,
        [COLL_OPERATION_EXSCAN] = describe_reduce,
        [COLL_OPERATION_REDUCE] = describe_reduce,
        [COLL_OPERATION_REDUCE_SCATTER] = describe_reduce_scatter,
        [COLL_OPERATION_ALLGATHER] = describe_allgather,
        [COLL_OPERATION_ALLTOALL] = describe_alltoall,
        [COLL_OPERATION_SCATTER] = describe_scatter,
        [COLL_OPERATION_BARRIER] = describe_barrier,
        [COLL_OPERATION_NEIGHBOR_ALLGATHER] = describe_neighbors,
        [COLL_OPERATION_NEIGHBOR_ALLTOALL] = describe_neighbors,
    };
    return by_operation[call->operation](call);
}

int coll_call_args_open(coll_call_args *call, coll_operation operation, const coll_user *user,
                        coll_comm *comm, const coll_graph *graph) {
    const coll_operation_info *info = &coll_operations[operation];
    *call = (coll_call_args){.comm = comm, .operation = operation, .user = user};
    call->shape = coll_state_shape(coll_state_of(comm), operation, 0, user->root);
    call->shape.graph = graph;
    if (info->neighbors && !graph) {
        call->shape.bytes = COLL_BYTES_UNKNOWN; /* the MPI library checks and runs the call */
        return MPI_SUCCESS;
    }
    int code = check_arguments(call);
    if (code == MPI_SUCCESS && info->reduces)
        code = open_reduction(call);
    return code == MPI_SUCCESS ? describe_call(call) : code;
}

void coll_call_args_close(coll_call_args *call) {
    coll_data_close(&call->data);
    coll_data_close(&call->input);
    if (call->own_opened)
        coll_data_close(&call->own);
    if (call->has_blocks)
        coll_blocks_close(&call->blocks);
    if (call->has_inputs)
        coll_blocks_close(&call->inputs);
    coll_reserve_free(call->places);
}

bool coll_call_args_is_local(const coll_call_args *call) {
    /* a rank may be its own neighbour */
    return call->shape.bytes == 0 ||
           (call->comm->ranks == 1 && !coll_operations[call->operation].neighbors);
}

size_t coll_call_args_amount(const coll_call_args *call) {
    const coll_blocks *blocks = call->has_blocks   ? &call->blocks
                                : call->has_inputs ? &call->inputs
                                                   : NULL;
    if (call->shape.bytes != COLL_BYTES_UNKNOWN)
        return call->shape.bytes;
    return blocks ? coll_blocks_sum(blocks) : call->data.bytes;
}

/* Packs the blocks one after the other to the copy. */
static void pack_blocks(const coll_call_args *call) {
    char *to = call->copy;
    for (int rank = 0; rank < call->comm->ranks; rank++) {
        const coll_data block = coll_blocks_at(&call->blocks, rank);
        if (block.bytes == 0)
            continue;
        coll_data_pack(&block, 0, block.bytes, to);
        to += block.bytes;
    }
}

void coll_call_args_begin(coll_call_args *call) {
    if (call->own.bytes > 0)
        coll_data_copy(&call->own_into, &call->own);
    if (call->copy && call->packs)
        pack_blocks(call);
    else if (call->copy)
        memcpy(call->copy, call->lowest, call->copied);
}

/* --- Running a call --- */

coll_exec_args coll_call_args_exec(const coll_algorithm *algorithm, const coll_call_args *call,
                                   const coll_values *values) {
    const coll_sides *sides = &call->shape.sides;
    coll_side data = is_root(call) ? sides->root_data : sides->data;
    return (coll_exec_args){
        .comm = call->comm,
        .algorithm = algorithm,
        .args = {.shape = &call->shape,
                 .values = values,
                 .line = call->line ? call->line : coll_rank_order_of(call->comm, &call->shape),
                 .own = data == COLL_SIDE_ONE ? call->data.bytes
                        : call->shape.graph   ? call->input.bytes
                                              : 0,
                 .blocks = call->has_blocks ? &call->blocks : NULL,
                 .input = call->has_inputs ? &call->inputs : NULL},
        .data = &call->data,
        .input = &call->input,
        .reduction = call->reduction,
        .tag = call->tag ? call->tag : COLL_TAG_COLLECTIVE};
}

void coll_call_args_move_input(coll_call_args *call, char *copy) {
    MPI_Aint offset = copy - call->lowest;
    call->copy = copy;
    if (call->has_inputs)
        coll_blocks_move(&call->inputs, offset);
    else
        call->input = coll_data_shifted(&call->input, offset, call->input.count, call->input.bytes);
}

static int run_natively(coll_call_args *call) {
    coll_comm *comm = call->comm;
    const MPI_Comm runs_on = coll_call_args_comm(call->operation, comm);
    const bool as_mpi = coll_wait_as_mpi(&comm->wait);
    int *ints = NULL;
    MPI_Request request;
    int code =
        coll_native_run(call->operation, call->user, runs_on, as_mpi ? NULL : &request, &ints);
    call->raised = code != MPI_SUCCESS && runs_on == comm->user;
    if (as_mpi)
        return code;
    if (code == MPI_SUCCESS)
        code = coll_wait_native(&comm->wait, &request, name_of(call));
    if (code == MPI_SUCCESS)
        coll_reserve_free(ints);
    else
        coll_wait_leave(ints); /* the MPI library may still read them */
    return code;
}

bool coll_call_args_all_copy(const coll_call_args *call) {
    return coll_call_args_copies(call) && coll_call_args_some_copy(call) == 0;
}

size_t coll_call_args_some_copy(const coll_call_args *call) {
    if (call->operation == COLL_OPERATION_EXSCAN)
        return call->shape.bytes;
    if (call->operation == COLL_OPERATION_REDUCE_SCATTER && call->user->uneven)
        return call->shape.bytes * (size_t)call->comm->ranks;
    return 0;
}

/* Allocates the copy of in-place input. If all ranks copy their input, they agree on whether they
 * have the memory. Otherwise the other ranks don't learn of an error on this rank, so the
 * communicator is then broken here. */
static int allocate_copy(coll_call_args *call, char **copy) {
    int code = MPI_SUCCESS;
    if (!coll_call_args_copies(call))
        return MPI_SUCCESS;
    *copy = malloc(call->copied + 1);
    if (!*copy)
        code = coll_error(MPI_ERR_NO_MEM, "%s: no memory to copy %zu bytes", name_of(call),
                          call->copied);
    if (coll_call_args_all_copy(call))
        code = coll_agree(call->comm, code);
    else if (code != MPI_SUCCESS)
        call->comm->broken = code;
    if (code == MPI_SUCCESS)
        coll_call_args_move_input(call, *copy);
    return code;
}

static int prepare_algorithm(const coll_algorithm *algorithm, coll_call_args *call) {
    if (!algorithm->prepare)
        return MPI_SUCCESS;
    int code = algorithm->prepare(call->comm);
    call->shape.latencies = call->shape.topo->latencies;
    return code;
}

static int run_plan(coll_call_args *call, const coll_algorithm *algorithm,
                    const coll_values *values) {
    char *copy = NULL;
    int code = prepare_algorithm(algorithm, call);
    if (code == MPI_SUCCESS)
        code = allocate_copy(call, &copy);
    if (code != MPI_SUCCESS) {
        free(copy);
        return code;
    }
    coll_call_args_begin(call);
    const coll_exec_args exec = coll_call_args_exec(algorithm, call, values);
    code = coll_exec_args_run(&exec);
    if (code == MPI_SUCCESS)
        free(copy);
    else
        coll_wait_leave(copy); /* messages may still be sent from the copy */
    return code;
}

int coll_call_args_run(coll_call_args *call, const coll_algorithm *algorithm,
                       const coll_values *values) {
    bool by_arguments = !algorithm->run && !coll_select_can_start(algorithm, values);
    return by_arguments ? run_natively(call) : run_plan(call, algorithm, values);
}
