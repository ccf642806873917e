/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI library's own collectives, with the arguments as their user gave them. */
#include "config.h"

#include "lib/call/args.h"

#include "lib/algorithm/spec.h"
#include "lib/base/error.h"
#include "lib/base/reserve_alloc.h"
#include "lib/topology/graph.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* Counts and displacements as ints, for MPI's functions with int arguments. */
typedef struct ints {
    int *send_counts, *send_places, *receive_counts, *receive_places;
    int *memory;
} ints;

/* Converts COUNT counts, or displacements if COUNTS is NULL, to ints at *NEXT. Sets *MADE to these
 * ints and advances *NEXT. Returns false if one doesn't fit. Converts nothing if both are NULL. */
static bool convert(int **next, const MPI_Count counts[], const MPI_Aint places[], int count,
                    int **made) {
    bool fits = true;
    *made = *next;
    *next += count;
    for (int i = 0; i < count && (counts || places); i++) {
        const MPI_Count value = counts ? counts[i] : places[i];
        fits = fits && value <= INT_MAX && value >= INT_MIN;
        (*made)[i] = (int)value;
    }
    return fits;
}

static int too_many(void) {
    return coll_error(MPI_ERR_COUNT,
                      "the MPI library, which runs this call, takes at most %d elements; before "
                      "nonblocking calls on an intracommunicator call COLL_Barrier once, so that "
                      "libcoll can run them",
                      INT_MAX);
}

/* Sets *RANKS to the length of the arrays of counts: the number of ranks (of the remote group, in
 * an intercommunicator, unless the operation reduces), or 0 if the arrays are significant only at
 * the root and this rank is not the root. */
static int array_length(const coll_operation_info *info, int root, MPI_Comm comm, int *ranks) {
    int inter, rank, code = PMPI_Comm_test_inter(comm, &inter);
    *ranks = 0;
    if (code == MPI_SUCCESS && inter && !info->reduces)
        return info->rootless || root == MPI_ROOT ? PMPI_Comm_remote_size(comm, ranks) : code;
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_rank(comm, &rank);
    return code == MPI_SUCCESS && (info->rootless || root == rank) ? PMPI_Comm_size(comm, ranks)
                                                                   : code;
}

/* Sets *IN and *OUT to the lengths of the receiving and the sending arrays. */
static int array_lengths(const coll_operation_info *info, int root, MPI_Comm comm, int *in,
                         int *out) {
    if (info->neighbors)
        return coll_graph_degrees(comm, in, out);
    const int code = array_length(info, root, comm, in);
    *out = *in;
    return code;
}

/* Returns whether each block has its own datatype. */
static bool has_types(const coll_user *u) {
    return u->uneven && u->uneven->receive_types;
}

/* Converts USER's counts and displacements. The caller frees MADE's memory with coll_reserve_free.
 */
static int convert_arrays(const coll_operation_info *info, const coll_user *user, MPI_Comm comm,
                          ints *made) {
    const coll_uneven *each = user->uneven;
    int out, in, code = array_lengths(info, user->root, comm, &in, &out);
    if (code != MPI_SUCCESS)
        return code;
    const size_t all = 2 * ((size_t)in + (size_t)out);
    int *next = made->memory = coll_reserve_alloc((all + 1) * sizeof *next);
    if (!next)
        return coll_error(MPI_ERR_NO_MEM, "no memory for %zu counts", all);
    bool fits = convert(&next, each->send_counts, NULL, out, &made->send_counts);
    fits = convert(&next, each->receive_counts, NULL, in, &made->receive_counts) && fits;
    if (!info->neighbors || !has_types(user)) { /* else MPI takes them as MPI_Aint */
        fits = convert(&next, NULL, each->send_places, out, &made->send_places) && fits;
        fits = convert(&next, NULL, each->receive_places, in, &made->receive_places) && fits;
    }
    if (!fits)
        coll_reserve_free(made->memory);
    return fits ? MPI_SUCCESS : too_many();
}

/* Checks arguments that MPI libraries don't check, or can't take. */
static int check_arguments(const coll_operation_info *info, const coll_user *user) {
    if (info->reduces && user->receive_count < 0) /* not checked by MPICH on intercommunicators */
        return coll_error(MPI_ERR_COUNT, "count is %lld", (long long)user->receive_count);
    if (info->neighbors && (user->send == MPI_IN_PLACE || user->receive == MPI_IN_PLACE))
        return coll_error(MPI_ERR_BUFFER, "%s: MPI_IN_PLACE", info->name); /* MPICH crashes */
    return coll_call_args_fits(user) ? MPI_SUCCESS : too_many();
}

/* Calls one of MPI's operations; nonblocking if REQUEST isn't NULL. N has the counts if sizes
 * differ by rank. */
typedef int native_call(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request);
#define EITHER(nonblocking, blocking, ...)                                                         \
    (request ? nonblocking(__VA_ARGS__, comm, request) : blocking(__VA_ARGS__, comm))

/* The arguments that several of MPI's operations have in common; those with _V have a count for
 * each rank. */
#define SENT u->send, (int)u->send_count, u->send_type
#define SENT_V u->send, n->send_counts, n->send_places, u->send_type
#define RECEIVED u->receive, (int)u->receive_count, u->receive_type
#define RECEIVED_V u->receive, n->receive_counts, n->receive_places, u->receive_type
#define REDUCED u->send, u->receive, (int)u->receive_count, u->receive_type, u->op

static int bcast(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    (void)n;
    return EITHER(PMPI_Ibcast, PMPI_Bcast, RECEIVED, u->root);
}

static int gather(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    return u->uneven ? EITHER(PMPI_Igatherv, PMPI_Gatherv, SENT, RECEIVED_V, u->root)
                     : EITHER(PMPI_Igather, PMPI_Gather, SENT, RECEIVED, u->root);
}

static int allreduce(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    (void)n;
    return EITHER(PMPI_Iallreduce, PMPI_Allreduce, REDUCED);
}

/* MPI_Reduce of MPICH 4.0 crashes on long in-place data at roots other than 0; MPI_Ireduce doesn't.
 */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000
enum { REDUCES_BY_STARTING = true };
#else
enum { REDUCES_BY_STARTING = false };
#endif

static int reduce(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    MPI_Request own, *asked = request;
    (void)n;
    if (!request && REDUCES_BY_STARTING)
        request = &own;
    int code = EITHER(PMPI_Ireduce, PMPI_Reduce, REDUCED, u->root);
    return request == asked || code != MPI_SUCCESS ? code : PMPI_Wait(&own, MPI_STATUS_IGNORE);
}

static int reduce_scatter(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    return u->uneven ? EITHER(PMPI_Ireduce_scatter, PMPI_Reduce_scatter, u->send, u->receive,
                              n->receive_counts, u->receive_type, u->op)
                     : EITHER(PMPI_Ireduce_scatter_block, PMPI_Reduce_scatter_block, REDUCED);
}

static int allgather(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    return u->uneven ? EITHER(PMPI_Iallgatherv, PMPI_Allgatherv, SENT, RECEIVED_V)
                     : EITHER(PMPI_Iallgather, PMPI_Allgather, SENT, RECEIVED);
}

static int alltoall(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    if (has_types(u))
        return EITHER(PMPI_Ialltoallw, PMPI_Alltoallw, u->send, n->send_counts, n->send_places,
                      u->uneven->send_types, u->receive, n->receive_counts, n->receive_places,
                      u->uneven->receive_types);
    return u->uneven ? EITHER(PMPI_Ialltoallv, PMPI_Alltoallv, SENT_V, RECEIVED_V)
                     : EITHER(PMPI_Ialltoall, PMPI_Alltoall, SENT, RECEIVED);
}

static int scatter(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    return u->uneven ? EITHER(PMPI_Iscatterv, PMPI_Scatterv, SENT_V, RECEIVED, u->root)
                     : EITHER(PMPI_Iscatter, PMPI_Scatter, SENT, RECEIVED, u->root);
}

static int barrier(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    (void)u, (void)n;
    return request ? PMPI_Ibarrier(comm, request) : PMPI_Barrier(comm);
}

static int scan(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    (void)n;
    return EITHER(PMPI_Iscan, PMPI_Scan, REDUCED);
}

static int exscan(const coll_user *u, const ints *n, MPI_Comm comm, MPI_Request *request) {
    (void)n;
    return EITHER(PMPI_Iexscan, PMPI_Exscan, REDUCED);
}

static int neighbor_allgather(const coll_user *u, const ints *n, MPI_Comm comm,
                              MPI_Request *request) {
    return u->uneven ? EITHER(PMPI_Ineighbor_allgatherv, PMPI_Neighbor_allgatherv, SENT, RECEIVED_V)
                     : EITHER(PMPI_Ineighbor_allgather, PMPI_Neighbor_allgather, SENT, RECEIVED);
}

static int neighbor_alltoallw(const coll_user *u, const ints *n, MPI_Comm comm,
                              MPI_Request *request) {
    const coll_uneven *each = u->uneven;
#if MPI_VERSION >= 4
    /* The function with int counts mixes up the degrees in MPICH 4.0.2:
     * https://github.com/pmodels/mpich/issues/6233. */
    (void)n;
    return EITHER(PMPI_Ineighbor_alltoallw_c, PMPI_Neighbor_alltoallw_c, u->send, each->send_counts,
                  each->send_places, each->send_types, u->receive, each->receive_counts,
                  each->receive_places, each->receive_types);
#else
    return EITHER(PMPI_Ineighbor_alltoallw, PMPI_Neighbor_alltoallw, u->send, n->send_counts,
                  each->send_places, each->send_types, u->receive, n->receive_counts,
                  each->receive_places, each->receive_types);
#endif
}

static int neighbor_alltoall(const coll_user *u, const ints *n, MPI_Comm comm,
                             MPI_Request *request) {
    if (has_types(u))
        return neighbor_alltoallw(u, n, comm, request);
    return u->uneven ? EITHER(PMPI_Ineighbor_alltoallv, PMPI_Neighbor_alltoallv, SENT_V, RECEIVED_V)
                     : EITHER(PMPI_Ineighbor_alltoall, PMPI_Neighbor_alltoall, SENT, RECEIVED);
}

/* MPICH before 4.1.1 mixes up the sizes of the blocks of a nonblocking alltoallw in place:
 * https://github.com/pmodels/mpich/issues/6404. */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40101000
enum { SENDS_COPY_FOR_IN_PLACE = true };
#else
enum { SENDS_COPY_FOR_IN_PLACE = false };
#endif

/*
 * Turns an alltoallw in place into one that sends a packed copy of its blocks: changes USER and
 * EACH, USER's arrays. MADE's memory is replaced by memory that also holds the copy.
 */
static int send_copy(coll_user *user, coll_uneven *each, ints *made, MPI_Comm comm) {
    int ranks, code = PMPI_Comm_size(comm, &ranks);
    size_t bytes = 0;
    for (int i = 0, size = 0; code == MPI_SUCCESS && i < ranks; i++, bytes += (size_t)size)
        code = PMPI_Pack_size(made->receive_counts[i], each->receive_types[i], comm, &size);
    if (code != MPI_SUCCESS || bytes > INT_MAX)
        return code != MPI_SUCCESS ? code : too_many();
    const size_t all = (size_t)ranks;
    MPI_Datatype *types = coll_reserve_alloc(all * (sizeof *types + 4 * sizeof(int)) + bytes);
    if (!types)
        return coll_error(MPI_ERR_NO_MEM, "no memory for a copy of %zu bytes", bytes);
    int *counts = (int *)(types + all);
    char *copy = (char *)(counts + 4 * all);
    memcpy(counts + 2 * all, made->receive_counts, all * sizeof *counts);
    memcpy(counts + 3 * all, made->receive_places, all * sizeof *counts);
    coll_reserve_free(made->memory);
    *made = (ints){.send_counts = counts,
                   .send_places = counts + all,
                   .receive_counts = counts + 2 * all,
                   .receive_places = counts + 3 * all,
                   .memory = (int *)types};
    int used = 0;
    for (int i = 0; code == MPI_SUCCESS && i < ranks; i++) {
        types[i] = MPI_PACKED;
        made->send_places[i] = used;
        code = PMPI_Pack((char *)user->receive + each->receive_places[i], made->receive_counts[i],
                         each->receive_types[i], copy, (int)bytes, &used, comm);
        made->send_counts[i] = used - made->send_places[i];
    }
    user->send = copy;
    user->uneven = each;
    each->send_types = types;
    return code;
}

int coll_native_run(coll_operation operation, const coll_user *user, MPI_Comm comm,
                    MPI_Request *request, int **kept) {
    static native_call *const by_operation[COLL_OPERATIONS] = {
        [COLL_OPERATION_BCAST] = bcast,
        [COLL_OPERATION_GATHER] = gather,
        [COLL_OPERATION_ALLREDUCE] = allreduce,
        [COLL_OPERATION_REDUCE] = reduce,
        [COLL_OPERATION_REDUCE_SCATTER] = reduce_scatter,
        [COLL_OPERATION_ALLGATHER] = allgather,
        [COLL_OPERATION_ALLTOALL] = alltoall,
        [COLL_OPERATION_SCATTER] = scatter,
        [COLL_OPERATION_BARRIER] = barrier,
        [COLL_OPERATION_SCAN] = scan,
        [COLL_OPERATION_EXSCAN] = exscan,
        [COLL_OPERATION_NEIGHBOR_ALLGATHER] = neighbor_allgather,
        [COLL_OPERATION_NEIGHBOR_ALLTOALL] = neighbor_alltoall,
    };
    const coll_operation_info *info = &coll_operations[operation];
    int code = check_arguments(info, user), in, out;
    /* Check here that COMM has a topology: Open MPI doesn't raise this error on COMM. */
    if (code == MPI_SUCCESS && info->neighbors)
        code = coll_graph_degrees(comm, &in, &out);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);
    if (!user->uneven)
        return by_operation[operation](user, NULL, comm, request);
    ints made;
    code = convert_arrays(info, user, comm, &made);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);
    coll_user changed;
    coll_uneven changed_arrays;
    if (SENDS_COPY_FOR_IN_PLACE && request && user->send == MPI_IN_PLACE && has_types(user)) {
        changed = *user;
        changed_arrays = *user->uneven;
        code = send_copy(&changed, &changed_arrays, &made, comm);
        if (code != MPI_SUCCESS) {
            coll_reserve_free(made.memory);
            return coll_raise(comm, code);
        }
        user = &changed;
    }
    code = by_operation[operation](user, &made, comm, request);
    if (request && code == MPI_SUCCESS)
        *kept = made.memory;
    else
        coll_reserve_free(made.memory);
    return code;
}

/* --- Entries of the tables --- */

/*
 * Returns whether the call's bytes, and thus its counts, fit an int. If all ranks know that blocks
 * may differ, the bytes of all blocks together must fit, since displacements can be that large.
 * True if the bytes are unknown.
 */
static bool fits(const coll_shape *call) {
    const size_t most = call->longest ? INT_MAX / (size_t)call->topo->ranks : INT_MAX;
    return call->bytes <= most || call->bytes == COLL_BYTES_UNKNOWN;
}

#define NATIVE(operation)                                                                          \
    const coll_algorithm coll_##operation##_native = {                                             \
        .name = "native",                                                                          \
        .summary = "the MPI library's own " #operation,                                            \
        .native = true,                                                                            \
        .applicable = fits,                                                                        \
    }

NATIVE(allreduce);
NATIVE(reduce);
NATIVE(reduce_scatter);
NATIVE(allgather);
NATIVE(alltoall);
NATIVE(scatter);
NATIVE(barrier);
NATIVE(scan);
NATIVE(exscan);
NATIVE(neighbor_allgather);
NATIVE(neighbor_alltoall);
