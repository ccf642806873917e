/* The public entries: check the arguments, choose, run, trace, raise errors. */
#include "config.h"

#include "coll.h"
#include "lib/aggregate/aggregate.h"
#include "lib/aggregate/pool.h"
#include "lib/base/data.h"
#include "lib/base/error.h"
#include "lib/bcast/bcast.h"
#include "lib/gather/gather.h"
#include "lib/operation/select.h"
#include "lib/operation/shortcut.h"
#include "lib/operation/state.h"
#include "lib/operation/trace.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *COLL_Version(void) {
    return PACKAGE_VERSION;
}

/* Without a communicator, MPI's own calls raise errors on MPI_COMM_WORLD. */
static int check_comm(MPI_Comm comm, bool *inter) {
    *inter = false;
    if (comm == MPI_COMM_NULL)
        return coll_raise(MPI_COMM_WORLD, coll_error(MPI_ERR_COMM, "null communicator"));
    int is_inter = 0;
    int code = PMPI_Comm_test_inter(comm, &is_inter);
    *inter = is_inter;
    return code;
}

static int find_operation(const char *name, coll_operation *operation) {
    for (int i = 0; i < COLL_OPERATIONS; i++)
        if (strcmp(coll_operations[i].name, name) == 0) {
            *operation = (coll_operation)i;
            return MPI_SUCCESS;
        }
    return coll_error(MPI_ERR_ARG, "unknown operation %s; known: bcast, gather, aggregate", name);
}

int COLL_Set(MPI_Comm comm, const char *operation, const char *spec) {
    bool inter;
    int code = check_comm(comm, &inter);
    if (code != MPI_SUCCESS)
        return code;
    if (inter)
        return coll_raise(comm, coll_error(MPI_ERR_COMM, "COLL_Set: an intercommunicator"));

    coll_operation which = COLL_OPERATIONS;
    code = find_operation(operation, &which);
    coll_comm *state = NULL;
    if (code == MPI_SUCCESS)
        code = coll_comm_get(comm, &state);
    if (code == MPI_SUCCESS)
        code = coll_state_set(coll_state_of(state), which, operation, spec);
    return coll_raise(comm, code);
}

static void describe(const coll_shape *call, const coll_choice *choice,
                     const coll_algorithm *algorithm, COLL_Candidate *candidate) {
    bool chosen = choice->algorithm == algorithm;
    coll_values values = chosen ? choice->values : coll_values_default(algorithm);
    *candidate = (COLL_Candidate){
        .name = algorithm->name,
        .summary = algorithm->summary,
        .applicable = !algorithm->applicable || algorithm->applicable(call),
        .chosen = chosen,
        .rival = algorithm->rival,
        .why = chosen ? choice->why : NULL,
    };
    if (candidate->applicable)
        candidate->predicted = coll_predicted(algorithm, call, &values, &candidate->model);
    coll_spec_print(algorithm, &values, candidate->spec, sizeof candidate->spec);
}

static void explain(const coll_state *state, coll_operation operation, const coll_shape *call,
                    COLL_Candidate candidates[], int capacity, int *count) {
    const coll_algorithm *const *table = coll_operations[operation].table;
    coll_shape known = *call;
    if (operation == COLL_OPERATION_AGGREGATE) /* whose ranks bring different amounts */
        known.bytes = COLL_BYTES_UNKNOWN;
    coll_choice choice = coll_select(table, &known, &state->specs[operation]);
    for (*count = 0; table[*count]; ++*count)
        if (*count < capacity)
            describe(call, &choice, table[*count], &candidates[*count]);
}

int COLL_Explain(const char *operation, MPI_Count bytes, int root, MPI_Comm comm,
                 COLL_Candidate candidates[], int capacity, int *count) {
    return COLL_Explain_ranks(operation, bytes, root, 0, comm, candidates, capacity, count);
}

/* Ranks of 0 stand for those of COMM. */
static int check_explain(const coll_comm *comm, MPI_Count bytes, int root, int ranks) {
    if (bytes < 0)
        return coll_error(MPI_ERR_COUNT, "COLL_Explain: %lld bytes", (long long)bytes);
    if (ranks < 0)
        return coll_error(MPI_ERR_ARG, "COLL_Explain: %d ranks", ranks);
    ranks = ranks ? ranks : comm->ranks;
    if (root < 0 || root >= ranks)
        return coll_error(MPI_ERR_ROOT, "COLL_Explain: root %d of %d ranks", root, ranks);
    return MPI_SUCCESS;
}

int COLL_Explain_ranks(const char *operation, MPI_Count bytes, int root, int ranks, MPI_Comm comm,
                       COLL_Candidate candidates[], int capacity, int *count) {
    bool inter;
    int code = check_comm(comm, &inter);
    if (code != MPI_SUCCESS)
        return code;
    coll_operation which = COLL_OPERATIONS;
    coll_comm *state = NULL;
    coll_topo imagined = {0};
    code = inter ? coll_error(MPI_ERR_COMM, "COLL_Explain: an intercommunicator")
                 : find_operation(operation, &which);
    if (code == MPI_SUCCESS)
        code = coll_comm_get(comm, &state);
    if (code == MPI_SUCCESS)
        code = check_explain(state, bytes, root, ranks);
    if (code == MPI_SUCCESS && ranks)
        code = coll_topo_imagine(&coll_state_of(state)->topo, ranks, &imagined);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);

    coll_shape call = coll_state_shape(coll_state_of(state), which, (size_t)bytes, root);
    if (ranks)
        call.topo = &imagined;
    explain(coll_state_of(state), which, &call, candidates, capacity, count);
    coll_topo_free(&imagined);
    return MPI_SUCCESS;
}

/* Describes this rank's data, of a committed type: the MPI library alone knows whether it is. */
static int open_data(coll_comm *comm, coll_data *data, const void *buffer, MPI_Count count,
                     MPI_Datatype type) {
    int code = coll_data_open(data, (void *)buffer, count, type);
    if (code == MPI_SUCCESS && !data->plain_bytes)
        code = PMPI_Send(NULL, 0, type, MPI_PROC_NULL, 0, comm->private);
    if (code == MPI_SUCCESS)
        coll_shortcut_learn(comm, type, data);
    return code;
}

static int check_bcast(const void *buffer, MPI_Count count, MPI_Datatype type, int root,
                       int ranks) {
    if (buffer == MPI_IN_PLACE)
        return coll_error(MPI_ERR_BUFFER, "broadcast: MPI_IN_PLACE is no buffer");
    if (count < 0)
        return coll_error(MPI_ERR_COUNT, "broadcast of %lld elements", (long long)count);
    if (type == MPI_DATATYPE_NULL)
        return coll_error(MPI_ERR_TYPE, "broadcast of a null datatype");
    if (root < 0 || root >= ranks)
        return coll_error(MPI_ERR_ROOT, "broadcast from root %d of %d ranks", root, ranks);
    return MPI_SUCCESS;
}

static int run_bcast(coll_comm *comm, int root, const coll_data *data) {
    coll_state *state = coll_state_of(comm);
    coll_shape shape = coll_state_shape(state, COLL_OPERATION_BCAST, data->bytes, root);
    coll_choice choice = coll_state_choose(state, COLL_OPERATION_BCAST, &shape);
    coll_bcast_call call = {.comm = comm, .root = root, .shape = &shape, .data = data};
    double start = PMPI_Wtime();
    int code = coll_bcast_of(choice.algorithm)->run(&call, &choice.values);
    if (code != MPI_SUCCESS)
        comm->broken = code;
    coll_comm_leave_room(comm);
    coll_trace(comm, "bcast", data->bytes, &choice, PMPI_Wtime() - start);
    return code;
}

int COLL_Bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
    bool inter;
    int code;
    if (coll_shortcut_bcast(buffer, count, type, root, comm, &code))
        return code;
    code = check_comm(comm, &inter);
    if (code != MPI_SUCCESS)
        return code;
    if (inter && count > INT_MAX)
        return coll_raise(comm, coll_error(MPI_ERR_COUNT,
                                           "more than %d elements over an "
                                           "intercommunicator",
                                           INT_MAX));
    if (inter)
        return PMPI_Bcast(buffer, (int)count, type, root, comm);

    coll_comm *state;
    code = coll_comm_get(comm, &state);
    if (code == MPI_SUCCESS)
        code = check_bcast(buffer, count, type, root, state->ranks);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);

    coll_data data;
    code = open_data(state, &data, buffer, count, type);
    if (code == MPI_SUCCESS && data.bytes > 0 && state->ranks > 1)
        code = run_bcast(state, root, &data);
    coll_data_close(&data);
    return coll_raise(comm, code);
}

static int run_gather(coll_comm *comm, size_t bytes, const coll_gather_call *given) {
    coll_state *state = coll_state_of(comm);
    coll_shape shape = coll_state_shape(state, COLL_OPERATION_GATHER, bytes, given->root);
    coll_choice choice = coll_state_choose(state, COLL_OPERATION_GATHER, &shape);
    coll_gather_call call = *given;
    call.comm = comm;
    call.shape = &shape;
    double start = PMPI_Wtime();
    int code = coll_gather_of(choice.algorithm)->run(&call, &choice.values);
    if (code != MPI_SUCCESS)
        comm->broken = code;
    coll_comm_leave_room(comm);
    coll_trace(comm, "gather", bytes, &choice, PMPI_Wtime() - start);
    return code;
}

/* What a rank other than the root gives. */
static int give(coll_comm *comm, const void *buffer, MPI_Count count, MPI_Datatype type, bool even,
                int root) {
    coll_data mine;
    int code = open_data(comm, &mine, buffer, count, type);
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
    int code = open_data(comm, &mine, buffer, count, type);
    if (code == MPI_SUCCESS && mine.bytes > block.bytes)
        code = coll_error(MPI_ERR_TRUNCATE, "gather: %zu bytes of the root into a block of %zu",
                          mine.bytes, block.bytes);
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

/* The arguments of this rank alone: those that don't count at it may be anything. */
static int check_gather(const void *buffer, MPI_Count count, MPI_Datatype type,
                        const coll_blocks_layout *layout, int root, const coll_comm *comm) {
    if (root < 0 || root >= comm->ranks)
        return coll_error(MPI_ERR_ROOT, "gather at root %d of %d ranks", root, comm->ranks);
    bool is_root = comm->rank == root;
    if (buffer == MPI_IN_PLACE && !is_root)
        return coll_error(MPI_ERR_BUFFER, "gather: MPI_IN_PLACE at rank %d, which is not the root",
                          comm->rank);
    if (buffer != MPI_IN_PLACE && count < 0)
        return coll_error(MPI_ERR_COUNT, "gather of %lld elements", (long long)count);
    if (buffer != MPI_IN_PLACE && type == MPI_DATATYPE_NULL)
        return coll_error(MPI_ERR_TYPE, "gather of a null datatype");
    if (!is_root)
        return MPI_SUCCESS;
    if (layout->buffer == MPI_IN_PLACE)
        return coll_error(MPI_ERR_BUFFER, "gather into MPI_IN_PLACE, which is no buffer");
    if (layout->type == MPI_DATATYPE_NULL)
        return coll_error(MPI_ERR_TYPE, "gather into a null datatype");
    for (int rank = 0; rank < comm->ranks; rank++) {
        MPI_Count length = layout->counts ? layout->counts[rank] : layout->count;
        if (length < 0)
            return coll_error(MPI_ERR_COUNT, "gather of %lld elements from rank %d",
                              (long long)length, rank);
    }
    return MPI_SUCCESS;
}

static int gather(const void *buffer, MPI_Count count, MPI_Datatype type,
                  const coll_blocks_layout *layout, bool even, int root, MPI_Comm comm) {
    coll_comm *state;
    int code = coll_comm_get(comm, &state);
    if (code == MPI_SUCCESS)
        code = check_gather(buffer, count, type, layout, root, state);
    if (code == MPI_SUCCESS && state->rank == root)
        code = take(state, buffer, count, type, layout, root);
    else if (code == MPI_SUCCESS)
        code = give(state, buffer, count, type, even, root);
    return coll_raise(comm, code);
}

static int too_many_between(MPI_Comm comm) {
    return coll_raise(comm, coll_error(MPI_ERR_COUNT,
                                       "more than %d elements over an "
                                       "intercommunicator",
                                       INT_MAX));
}

int COLL_Gather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                MPI_Comm comm) {
    bool inter;
    int code;
    if (coll_shortcut_gather(send_buffer, send_count, send_type, receive_buffer, receive_count,
                             receive_type, root, comm, &code))
        return code;
    code = check_comm(comm, &inter);
    if (code != MPI_SUCCESS)
        return code;
    if (inter && (send_count > INT_MAX || receive_count > INT_MAX))
        return too_many_between(comm);
    if (inter)
        return PMPI_Gather(send_buffer, (int)send_count, send_type, receive_buffer,
                           (int)receive_count, receive_type, root, comm);
    coll_blocks_layout layout = {
        .buffer = receive_buffer, .count = receive_count, .type = receive_type};
    return gather(send_buffer, send_count, send_type, &layout, true, root, comm);
}

/* Over an intercommunicator: the same with ints, at its root from each of the other side's ranks.
 */
static int gatherv_between(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                           const coll_blocks_layout *layout, int root, MPI_Comm comm) {
    int remote = 0, code = MPI_SUCCESS;
    if (root == MPI_ROOT)
        code = PMPI_Comm_remote_size(comm, &remote);
    if (code != MPI_SUCCESS)
        return code;
    int *counts = malloc((2 * (size_t)remote + 1) * sizeof *counts), *places = counts + remote;
    if (!counts)
        return coll_raise(comm, coll_error(MPI_ERR_NO_MEM, "no memory for %d counts", remote));
    bool fits = send_count <= INT_MAX;
    for (int rank = 0; rank < remote; rank++) {
        MPI_Count count = layout->counts[rank];
        MPI_Aint place = layout->places[rank];
        fits = fits && count <= INT_MAX && place <= INT_MAX && place >= INT_MIN;
        counts[rank] = (int)count;
        places[rank] = (int)place;
    }
    code = fits ? PMPI_Gatherv(send_buffer, (int)send_count, send_type, layout->buffer, counts,
                               places, layout->type, root, comm)
                : too_many_between(comm);
    free(counts);
    return code;
}

int COLL_Gatherv(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                 void *receive_buffer, const MPI_Count receive_counts[],
                 const MPI_Aint displacements[], MPI_Datatype receive_type, int root,
                 MPI_Comm comm) {
    bool inter;
    int code = check_comm(comm, &inter);
    if (code != MPI_SUCCESS)
        return code;
    coll_blocks_layout layout = {.buffer = receive_buffer,
                                 .counts = receive_counts,
                                 .places = displacements,
                                 .type = receive_type};
    if (inter)
        return gatherv_between(send_buffer, send_count, send_type, &layout, root, comm);
    return gather(send_buffer, send_count, send_type, &layout, false, root, comm);
}

static int run_aggregate(COLL_Pool *pool, int root, coll_comm *comm, COLL_Aggregate_stats *stats) {
    const coll_state *state = coll_state_of(comm);
    coll_shape shape = coll_state_shape(state, COLL_OPERATION_AGGREGATE, COLL_BYTES_UNKNOWN, root);
    coll_choice choice =
        coll_select(coll_aggregate_table, &shape, &state->specs[COLL_OPERATION_AGGREGATE]);
    size_t bytes = pool ? coll_pool_bytes(pool) : 0;
    double start = PMPI_Wtime();
    int code = coll_aggregate_run(pool, root, &state->topo, comm,
                                  coll_aggregate_of(choice.algorithm), &choice.values, stats);
    coll_trace(comm, "aggregate", bytes, &choice, PMPI_Wtime() - start);
    return code;
}

int COLL_Aggregate(COLL_Pool *pool, int root, MPI_Comm comm, COLL_Aggregate_stats *stats) {
    bool inter;
    int code = check_comm(comm, &inter);
    if (code != MPI_SUCCESS)
        return code;
    if (inter)
        return coll_raise(comm, coll_error(MPI_ERR_COMM,
                                           "COLL_Aggregate: intercommunicators are not supported; "
                                           "merge them with MPI_Intercomm_merge"));
    coll_comm *state;
    code = coll_comm_get(comm, &state);
    if (code == MPI_SUCCESS)
        code = run_aggregate(pool, root, state, stats);
    return coll_raise(comm, code);
}
