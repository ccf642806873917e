/* The public entries: check the arguments, choose, run, trace, raise errors. */
#include "config.h"

#include "coll.h"
#include "lib/aggregate/aggregate.h"
#include "lib/aggregate/pool.h"
#include "lib/bcast/bcast.h"
#include "lib/comm.h"
#include "lib/data.h"
#include "lib/error.h"
#include "lib/guard.h"
#include "lib/select.h"
#include "lib/trace.h"

#include <limits.h>
#include <stdbool.h>
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
    return coll_error(MPI_ERR_ARG, "unknown operation %s; known: bcast, aggregate", name);
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
        code = coll_comm_set(state, which, operation, spec);
    return coll_raise(comm, code);
}

static void describe(const coll_profile *profile, const coll_shape *call, const coll_choice *choice,
                     const coll_algorithm *algorithm, COLL_Candidate *candidate) {
    bool chosen = choice->algorithm == algorithm;
    coll_values values = chosen ? choice->values : coll_values_default(algorithm);
    *candidate = (COLL_Candidate){
        .name = algorithm->name,
        .summary = algorithm->summary,
        .applicable = !algorithm->applicable || algorithm->applicable(call),
        .chosen = chosen,
        .why = chosen ? choice->why : NULL,
    };
    if (candidate->applicable)
        candidate->predicted = algorithm->predict(call, profile, &values);
    coll_spec_print(algorithm, &values, candidate->spec, sizeof candidate->spec);
}

static void explain(const coll_comm *comm, coll_operation operation, const coll_shape *call,
                    COLL_Candidate candidates[], int capacity, int *count) {
    const coll_algorithm *const *table = coll_operations[operation].table;
    coll_shape known = *call;
    if (operation == COLL_OPERATION_AGGREGATE) /* whose ranks bring different amounts */
        known.bytes = COLL_BYTES_UNKNOWN;
    coll_choice choice = coll_select(table, &known, comm->profile, &comm->specs[operation]);
    for (*count = 0; table[*count]; ++*count)
        if (*count < capacity)
            describe(comm->profile, call, &choice, table[*count], &candidates[*count]);
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
        code = coll_topo_imagine(&state->topo, ranks, &imagined);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);

    coll_shape call = {.operation = operation,
                       .bytes = (size_t)bytes,
                       .root = root,
                       .topo = ranks ? &imagined : &state->topo};
    explain(state, which, &call, candidates, capacity, count);
    coll_topo_free(&imagined);
    return MPI_SUCCESS;
}

static int check_bcast(MPI_Count count, MPI_Datatype type, int root, int ranks) {
    if (count < 0)
        return coll_error(MPI_ERR_COUNT, "broadcast of %lld elements", (long long)count);
    if (type == MPI_DATATYPE_NULL)
        return coll_error(MPI_ERR_TYPE, "broadcast of a null datatype");
    if (root < 0 || root >= ranks)
        return coll_error(MPI_ERR_ROOT, "broadcast from root %d of %d ranks", root, ranks);
    return MPI_SUCCESS;
}

static int run_bcast_by(const void *call, const coll_algorithm *algorithm,
                        const coll_values *values) {
    return coll_bcast_of(algorithm)->run(call, values);
}

static int run_bcast(coll_comm *comm, int root, const coll_data *data) {
    coll_shape shape = {
        .operation = "bcast", .bytes = data->bytes, .root = root, .topo = &comm->topo};
    coll_choice choice =
        coll_select(coll_bcast_table, &shape, comm->profile, &comm->specs[COLL_OPERATION_BCAST]);
    coll_bcast_call call = {.comm = comm, .root = root, .shape = &shape, .data = data};
    bool done;
    double start = PMPI_Wtime();
    int code =
        coll_guard(comm, COLL_OPERATION_BCAST, data->bytes, run_bcast_by, &call, &choice, &done);
    if (code == MPI_SUCCESS && !done)
        code = run_bcast_by(&call, choice.algorithm, &choice.values);
    if (code != MPI_SUCCESS)
        comm->broken = code;
    coll_trace(comm, "bcast", data->bytes, &choice, PMPI_Wtime() - start);
    return code;
}

/*
 * The short way to the MPI library's broadcast, which takes less than a microsecond itself. False
 * where the call needs the long one.
 */
static bool stand_back(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                       int *code) {
    const coll_comm *state = coll_comm_recent(comm);
    if (!state || !state->stands_back || !state->plain_bytes || type != state->plain_type ||
        count < 0 || count > INT_MAX / state->plain_bytes)
        return false;
    *code = PMPI_Bcast(buffer, (int)(count * state->plain_bytes), MPI_BYTE, root, state->private);
    if (*code != MPI_SUCCESS)
        coll_raise(comm, *code);
    return true;
}

int COLL_Bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
    bool inter;
    int code;
    if (stand_back(buffer, count, type, root, comm, &code))
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
        code = check_bcast(count, type, root, state->ranks);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);

    coll_data data;
    code = coll_data_open(&data, buffer, count, type);
    if (code == MPI_SUCCESS && data.plain_bytes) {
        state->plain_type = type;
        state->plain_bytes = data.plain_bytes;
    }
    if (code == MPI_SUCCESS && data.bytes > 0 && state->ranks > 1)
        code = run_bcast(state, root, &data);
    coll_data_close(&data);
    return coll_raise(comm, code);
}

static int run_aggregate(COLL_Pool *pool, int root, coll_comm *comm, COLL_Aggregate_stats *stats) {
    coll_shape shape = {
        .operation = "aggregate", .bytes = COLL_BYTES_UNKNOWN, .root = root, .topo = &comm->topo};
    coll_choice choice = coll_select(coll_aggregate_table, &shape, comm->profile,
                                     &comm->specs[COLL_OPERATION_AGGREGATE]);
    size_t bytes = pool ? coll_pool_bytes(pool) : 0;
    double start = PMPI_Wtime();
    int code = coll_aggregate_run(pool, root, comm, coll_aggregate_of(choice.algorithm),
                                  &choice.values, stats);
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
