/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public entries of all operations, and the two paths of a blocking call.
 *
 * The fast path: a call that the MPI library runs goes to it directly, since describing the data,
 * choosing and tracing would take longer than a small collective itself. Its invariant: the
 * described path would call the same function of the MPI library with the same bytes, on the same
 * communicator; calls of no bytes send nothing on either path. So the ranks of one call may take
 * different paths. A call can take the fast path
 *
 * - on one node, where all calls of an operation are native, unless the user asks otherwise;
 * - if its choice is that of calls which the described path has run natively: those of the same
 *   size classes (lib/tuning/select.h) and, in a reduction, with alike elements and MPI_Ops.
 *
 * The described path: describe the arguments (lib/call/args.h), choose an algorithm
 * (lib/tuning/state.h), run it, trace the call.
 *
 * Open MPI's component asks COLL_Always_native whether libcoll has to be called at all.
 */
#include "config.h"

#include "coll.h"
#include "coll_component.h"
#include "lib/aggregate/aggregate.h"
#include "lib/aggregate/pool.h"
#include "lib/api/request.h"
#include "lib/base/dcp_hooks.h"
#include "lib/base/error.h"
#include "lib/call/args.h"
#include "lib/report/record.h"
#include "lib/topology/graph.h"
#include "lib/tuning/autotune.h"
#include "lib/tuning/state.h"
#include "lib/tuning/trace.h"

/* --- The fast path --- */

/*
 * Returns whether the call's datatype is the last datatype without gaps that was described and, in
 * a reduction, its MPI_Op is the last one found valid for that datatype. False for scatters and if
 * counts differ by rank.
 */
static bool is_known(const coll_state *state, coll_operation operation, const coll_user *user) {
    if (user->uneven || operation == COLL_OPERATION_SCATTER ||
        user->receive_type != state->plain_type)
        return false;
    return !coll_operations[operation].reduces ||
           (user->op == state->known_op && user->receive_type == state->known_type);
}

/* Returns the bytes of the call's shape; 0 if they can't be known without describing the call. */
static size_t known_bytes(const coll_state *state, coll_operation operation,
                          const coll_user *user) {
    MPI_Count bytes;
    if (operation == COLL_OPERATION_BARRIER)
        return 1;
    if (!is_known(state, operation, user) ||
        __builtin_mul_overflow(user->receive_count, state->plain_bytes, &bytes) || bytes < 0)
        return 0;
    return (size_t)bytes;
}

/*
 * Returns whether the call reduces as the calls KNOWN do. Asks MPI each time whether the MPI_Op
 * commutes: a new MPI_Op can have the handle of a freed one, perhaps on some ranks only.
 */
static bool reduces_like(const coll_state *state, coll_operation operation, const coll_user *user,
                         const coll_native_calls *known) {
    int commutes = 1;
    (void)PMPI_Op_commutative(user->op, &commutes); /* can't fail: MPI has accepted this handle */
    return !commutes == known->ordered &&
           coll_native_element((size_t)state->plain_bytes) == known->element &&
           coll_call_args_served(operation, state->comm, user->receive_type, user->op) ==
               known->served;
}

/* Returns whether the MPI library is known to run the call. Returns false if that can't be known
 * without describing it. */
static bool is_native(const coll_state *state, coll_operation operation, const coll_user *user) {
    const size_t bytes = known_bytes(state, operation, user);
    return bytes > 0 && coll_state_is_native(state, operation, bytes) &&
           (!coll_operations[operation].reduces ||
            reduces_like(state, operation, user, &state->native_calls[operation]));
}

/*
 * Returns COMM's state if the call can take the fast path, else NULL. Empty reductions don't take
 * it: ranks that describe them send nothing, but the MPI library may send messages (MPICH does if
 * the MPI_Op is user-defined).
 */
static const coll_comm *can_go_directly(coll_operation operation, const coll_user *user,
                                        MPI_Comm comm) {
    const coll_comm *own = coll_comm_recent(comm);
    if (!own || !coll_wait_as_mpi(&own->wait) || !coll_call_args_fits(user) ||
        (coll_operations[operation].reduces && !user->uneven && user->receive_count == 0))
        return NULL;
    const coll_state *state = coll_state_of(own);
    return state->native[operation] || is_native(state, operation, user) ? own : NULL;
}

/*
 * Returns COMM's state if a broadcast or a gather, whose native algorithm passes bytes
 * (lib/bcast/native.c), can take the fast path, else NULL. Sets *BYTES to the size of this rank's
 * data. The data (in a gather, the data of all ranks) must fit the communicator's scratch memory,
 * whose size is the same on all ranks. It must not exceed COLL_NATIVE_MOST bytes, so that one
 * native call moves it. Empty calls don't take the fast path, since they send nothing.
 */
static inline const coll_comm *can_go_directly_as_bytes(coll_operation operation, MPI_Comm comm,
                                                        MPI_Count count, MPI_Datatype type,
                                                        int *bytes) {
    const coll_comm *own = coll_comm_recent(comm);
    if (!own || !coll_wait_as_mpi(&own->wait))
        return NULL;
    const coll_state *state = coll_state_of(own);
    const size_t most =
        own->scratch_bytes < COLL_NATIVE_MOST ? own->scratch_bytes : COLL_NATIVE_MOST;
    const int blocks = coll_operations[operation].blocks ? own->ranks : 1;
    MPI_Count size;
    size_t room;
    if (type != state->plain_type || __builtin_mul_overflow(count, state->plain_bytes, &size) ||
        size <= 0 || __builtin_mul_overflow(size, blocks, &room) || room > most ||
        (!state->native[operation] && !coll_state_is_native(state, operation, (size_t)size)))
        return NULL;
    *bytes = (int)size;
    return own;
}

int COLL_Always_native(const char *operation, MPI_Comm comm, int *native) {
    coll_comm *own;
    coll_operation found;
    int code = coll_comm_open_intra(comm, __func__, &own);
    if (code != MPI_SUCCESS)
        return code;
    code = coll_find_operation(operation, &found);
    if (code == MPI_SUCCESS)
        *native =
            coll_wait_as_mpi(&own->wait) && coll_state_always_native(coll_state_of(own), found);
    return coll_raise(comm, code);
}

/* --- The described path --- */

/* A blocking call under way. */
typedef struct running {
    coll_comm *comm;
    const coll_shape *shape;
    coll_choice choice;
    coll_autotuning *trial; /* NULL: autotuning does not time the call */
    double start;
} running;

/* Chooses the algorithm of CALL, whose communicator and shape are set. */
static int begin_call(running *call) {
    bool learns;
    int code = MPI_SUCCESS;
    call->choice = coll_state_choose(coll_state_of(call->comm), call->shape, &learns);
    if (learns)
        code = coll_autotune_begin(call->comm, call->shape, &call->choice, &call->trial);
    call->comm->agreed = false;
    call->start = PMPI_Wtime();
    return code;
}

/*
 * Ends CALL, which has returned CODE, and traces it with this rank's BYTES. If an error may have
 * left messages under way, the communicator is broken from then on.
 */
static int end_call(const running *call, int code, size_t bytes) {
    const coll_operation_info *info = &coll_operations[call->shape->operation];
    double seconds = PMPI_Wtime() - call->start;
    if (code == MPI_SUCCESS && call->trial)
        code = coll_autotune_end(call->trial, seconds);
    if (code != MPI_SUCCESS && !info->errors_agreed && !call->comm->agreed)
        call->comm->broken = code;
    coll_comm_release_scratch(call->comm);
    coll_trace(call->comm, info->name, call->shape, bytes, &call->choice, seconds);
    coll_report_ran(call->comm, COLL_REPORT_BLOCKING, call->shape, bytes, &call->choice);
    return code;
}

static int run_chosen(coll_call_args *args) {
    running call = {.comm = args->comm, .shape = &args->shape};
    int code = begin_call(&call);
    if (code != MPI_SUCCESS)
        return code;
    code = coll_call_args_run(args, call.choice.algorithm, &call.choice.values);
    return end_call(&call, code, coll_call_args_amount(args));
}

static int run_described(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    coll_comm *own;
    int code = coll_comm_open(comm, &own);
    if (code != MPI_SUCCESS)
        return code;
    if (!own)
        return coll_native_run(operation, user, comm, NULL, NULL);
    coll_state *state = coll_state_of(own);
    const coll_graph *graph = NULL;
    const bool neighbors = coll_operations[operation].neighbors;
    /* If the MPI library runs all calls, other ranks may be on the fast path. So this rank doesn't
     * gather the graph, which is collective, and runs the call without the graph if it has no
     * memory for it. It also calls the MPI library if the call is empty, as they do. */
    const bool native = neighbors && coll_state_always_native(state, operation);
    if (neighbors && !native)
        code = coll_graph_gather(own, &state->topo);
    if (neighbors && code == MPI_SUCCESS) {
        const int found = coll_graph_of(own, &state->topo, &graph);
        code = native ? MPI_SUCCESS : found;
    }
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);
    coll_call_args args;
    code = coll_call_args_open(&args, operation, user, own, graph);
    if (code == MPI_SUCCESS && !native && coll_call_args_is_local(&args))
        coll_call_args_begin(&args);
    else if (code == MPI_SUCCESS)
        code = run_chosen(&args);
    coll_call_args_close(&args);
    return args.raised ? code : coll_raise(comm, code);
}

static int aggregate(COLL_Pool *pool, int root, MPI_Comm comm, COLL_Aggregate_stats *stats) {
    coll_comm *own;
    int code = coll_comm_open_intra(comm, "COLL_Aggregate", &own);
    if (code != MPI_SUCCESS)
        return code;
    const coll_shape shape =
        coll_state_shape(coll_state_of(own), COLL_OPERATION_AGGREGATE, COLL_BYTES_UNKNOWN, root);
    running call = {.comm = own, .shape = &shape};
    const size_t bytes = pool ? coll_pool_bytes(pool) : 0; /* before the call empties the pool */
    code = begin_call(&call);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);
    code = coll_aggregate_run(
        &(coll_aggregate_call){.pool = pool, .comm = own, .shape = &shape, .stats = stats},
        coll_aggregate_of(call.choice.algorithm), &call.choice.values);
    return coll_raise(comm, end_call(&call, code, bytes));
}

int COLL_Aggregate(COLL_Pool *pool, int root, MPI_Comm comm, COLL_Aggregate_stats *stats) {
    const uint64_t began = coll_report_begin();
    const int code = aggregate(pool, root, comm, stats);
    if (began)
        coll_report_end(began, code, COLL_OPERATION_AGGREGATE, COLL_REPORT_BLOCKING,
                        &(COLL_Report_amount){.type = MPI_BYTE}, comm);
    return code;
}

/* --- The blocking entries' functions --- */

static int run_blocking(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    const coll_comm *direct = can_go_directly(operation, user, comm);
    if (!direct)
        return run_described(operation, user, comm);
    const MPI_Comm runs_on = coll_call_args_comm(operation, direct);
    const int code = coll_native_run(operation, user, runs_on, NULL, NULL);
    return runs_on == direct->user ? code : coll_raise(comm, code);
}

static int run_bcast(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    int bytes;
    const coll_comm *direct =
        can_go_directly_as_bytes(operation, comm, user->receive_count, user->receive_type, &bytes);
    return direct ? coll_raise(comm, PMPI_Bcast(user->receive, bytes, MPI_BYTE, user->root,
                                                direct->private))
                  : run_described(operation, user, comm);
}

static int run_gather(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    const bool in_place = user->send == MPI_IN_PLACE;
    int bytes;
    const coll_comm *direct =
        can_go_directly_as_bytes(operation, comm, in_place ? user->receive_count : user->send_count,
                                 in_place ? user->receive_type : user->send_type, &bytes);
    bool receives = direct && direct->rank == user->root;
    bool alike = user->receive_count == user->send_count && user->receive_type == user->send_type;
    if (!direct || (in_place && !receives) || (receives && !in_place && !alike))
        return run_described(operation, user, comm);
    return coll_raise(comm,
                      PMPI_Gather(user->send, bytes, MPI_BYTE, user->receive, receives ? bytes : 0,
                                  MPI_BYTE, user->root, direct->private));
}

/* --- Recording of calls for the report --- */

/* Returns whether the amount to record is that of the send buffer, not of the receive buffer. */
static bool is_amount_sent(coll_operation operation, const coll_user *user) {
    switch (operation) {
    case COLL_OPERATION_GATHER:
    case COLL_OPERATION_ALLGATHER:
    case COLL_OPERATION_ALLTOALL:
    case COLL_OPERATION_NEIGHBOR_ALLGATHER:
    case COLL_OPERATION_NEIGHBOR_ALLTOALL:
        return user->send != MPI_IN_PLACE;
    case COLL_OPERATION_SCATTER:
        return user->receive == MPI_IN_PLACE;
    default:
        return false;
    }
}

/* Returns the elements, or if TYPES is not NULL the bytes, of the blocks of all ranks of COMM; 0
 * for an intercommunicator. */
static MPI_Count sum_blocks(const MPI_Count counts[], const MPI_Datatype types[], MPI_Comm comm) {
    MPI_Count sum = 0, size = 1;
    int ranks = 0, inter = 1;
    if (!counts || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
        PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
        return 0;
    for (int i = 0; i < ranks; i++)
        if (!types || (counts[i] > 0 && PMPI_Type_size_x(types[i], &size) == MPI_SUCCESS))
            sum += counts[i] * size;
    return sum;
}

/* Returns the elements of this rank's block in a call whose counts differ by rank, or of all its
 * blocks if it has one for each rank. Returns 0 for a neighbourhood alltoall, and at the root of a
 * gather or scatter in place. */
static MPI_Count find_own_count(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    const coll_uneven *uneven = user->uneven;
    const bool in_place = user->send == MPI_IN_PLACE;
    int rank;
    switch (operation) {
    case COLL_OPERATION_SCATTER:
        return user->receive == MPI_IN_PLACE ? 0 : user->receive_count;
    case COLL_OPERATION_ALLGATHER:
        if (in_place && uneven->receive_counts && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS)
            return uneven->receive_counts[rank];
        return in_place ? 0 : user->send_count;
    case COLL_OPERATION_GATHER:
    case COLL_OPERATION_NEIGHBOR_ALLGATHER:
        return in_place ? 0 : user->send_count;
    case COLL_OPERATION_REDUCE_SCATTER:
        return sum_blocks(uneven->receive_counts, NULL, comm);
    case COLL_OPERATION_ALLTOALL:
        return in_place ? sum_blocks(uneven->receive_counts, uneven->receive_types, comm)
                        : sum_blocks(uneven->send_counts, uneven->send_types, comm);
    default:
        return 0;
    }
}

/* Returns the count and datatype of this rank's data or, if ranks have blocks, of its block. If
 * counts differ by rank and this rank has several blocks, counts all of these. */
static COLL_Report_amount find_amount(coll_operation operation, const coll_user *user,
                                      MPI_Comm comm) {
    const bool sent = is_amount_sent(operation, user);
    const MPI_Count count = sent ? user->send_count : user->receive_count;
    return (COLL_Report_amount){.count =
                                    user->uneven ? find_own_count(operation, user, comm) : count,
                                .type = sent ? user->send_type : user->receive_type,
                                .root = user->root,
                                .uneven = user->uneven != NULL};
}

static void end_recording(uint64_t began, int code, coll_operation operation, coll_report_kind kind,
                          const coll_user *user, MPI_Comm comm) {
    /* After an error the arguments may be invalid. */
    const COLL_Report_amount amount = code == MPI_SUCCESS ? find_amount(operation, user, comm)
                                                          : (COLL_Report_amount){.type = MPI_BYTE};
    coll_report_end(began, code, operation, kind, &amount, comm);
}

/* --- Entries --- */

/*
 * Defines the three entries of an operation. RUN is the blocking entry's function; PARAMETERS are
 * in parentheses; the remaining arguments initialize a coll_user from them.
 */
#define EACH(...) __VA_ARGS__
#define ENTRIES(...) ENTRIES_BY(run_blocking, __VA_ARGS__)
#define ENTRIES_BY(run, blocking, nonblocking, persistent, operation, parameters, ...)             \
    int blocking(EACH parameters MPI_Comm comm) {                                                  \
        const coll_user user = {__VA_ARGS__};                                                      \
        const uint64_t began = coll_report_begin();                                                \
        const int code = run(operation, &user, comm);                                              \
        if (began)                                                                                 \
            end_recording(began, code, operation, COLL_REPORT_BLOCKING, &user, comm);              \
        return code;                                                                               \
    }                                                                                              \
    int nonblocking(EACH parameters MPI_Comm comm, COLL_Request *request) {                        \
        const coll_user user = {__VA_ARGS__};                                                      \
        const uint64_t began = coll_report_begin();                                                \
        const int code = coll_request_start_call(&(coll_request_call){__func__, operation, &user}, \
                                                 comm, request);                                   \
        if (began)                                                                                 \
            end_recording(began, code, operation, COLL_REPORT_NONBLOCKING, &user, comm);           \
        return code;                                                                               \
    }                                                                                              \
    int persistent(EACH parameters MPI_Comm comm, MPI_Info info, COLL_Request *request) {          \
        const coll_user user = {__VA_ARGS__};                                                      \
        (void)info;                                                                                \
        return coll_request_create_persistent(&(coll_request_call){__func__, operation, &user},    \
                                              comm, request);                                      \
    }

/*
 * The parameters that several operations have in common, and the members of a coll_user that they
 * set. REDUCED: both buffers of a reduction, which have one count; SENT: a send buffer; BLOCKS:
 * equal blocks; BLOCKS_V: blocks whose counts differ by rank on the receiving side; BOTH_V: on both
 * sides; BOTH_W: on both sides, and with a datatype for each block.
 */
#define REDUCED                                                                                    \
    const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type, MPI_Op op
#define SET_REDUCED                                                                                \
    .send = send_buffer, .receive = receive_buffer, .receive_count = count, .receive_type = type,  \
    .op = op

#define SENT const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type
#define SET_SENT .send = send_buffer, .send_count = send_count, .send_type = send_type

#define BLOCKS SENT, void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type
#define SET_BLOCKS                                                                                 \
    SET_SENT, .receive = receive_buffer, .receive_count = receive_count,                           \
              .receive_type = receive_type

#define BLOCKS_V                                                                                   \
    SENT, void *receive_buffer, const MPI_Count receive_counts[], const MPI_Aint displacements[],  \
        MPI_Datatype receive_type
#define SET_BLOCKS_V                                                                               \
    SET_SENT, .receive = receive_buffer, .receive_type = receive_type, .uneven = &(coll_uneven) {  \
        .receive_counts = receive_counts, .receive_places = displacements                          \
    }

#define BOTH_V                                                                                     \
    const void *send_buffer, const MPI_Count send_counts[], const MPI_Aint send_displacements[],   \
        MPI_Datatype send_type, void *receive_buffer, const MPI_Count receive_counts[],            \
        const MPI_Aint receive_displacements[], MPI_Datatype receive_type
#define SET_BOTH_V                                                                                 \
    .send = send_buffer, .send_type = send_type, .receive = receive_buffer,                        \
    .receive_type = receive_type, .uneven = &(coll_uneven) {                                       \
        .send_counts = send_counts, .send_places = send_displacements,                             \
        .receive_counts = receive_counts, .receive_places = receive_displacements                  \
    }

#define BOTH_W                                                                                     \
    const void *send_buffer, const MPI_Count send_counts[], const MPI_Aint send_displacements[],   \
        const MPI_Datatype send_types[], void *receive_buffer, const MPI_Count receive_counts[],   \
        const MPI_Aint receive_displacements[], const MPI_Datatype receive_types[]
#define SET_BOTH_W                                                                                 \
    .send = send_buffer, .send_type = MPI_BYTE, .receive = receive_buffer,                         \
    .receive_type = MPI_BYTE, .uneven = &(coll_uneven) {                                           \
        send_counts, send_displacements, receive_counts, receive_displacements, send_types,        \
            receive_types                                                                          \
    }

ENTRIES_BY(run_bcast, COLL_Bcast, COLL_Ibcast, COLL_Bcast_init, COLL_OPERATION_BCAST,
           (void *buffer, MPI_Count count, MPI_Datatype type, int root, ), .send = MPI_IN_PLACE,
           .receive = buffer, .receive_count = count, .receive_type = type, .root = root)

ENTRIES_BY(run_gather, COLL_Gather, COLL_Igather, COLL_Gather_init, COLL_OPERATION_GATHER,
           (BLOCKS, int root, ), SET_BLOCKS, .root = root)

ENTRIES_BY(run_described, COLL_Gatherv, COLL_Igatherv, COLL_Gatherv_init, COLL_OPERATION_GATHER,
           (BLOCKS_V, int root, ), SET_BLOCKS_V, .root = root)

ENTRIES(COLL_Allreduce, COLL_Iallreduce, COLL_Allreduce_init, COLL_OPERATION_ALLREDUCE, (REDUCED, ),
        SET_REDUCED)

ENTRIES(COLL_Reduce, COLL_Ireduce, COLL_Reduce_init, COLL_OPERATION_REDUCE, (REDUCED, int root, ),
        SET_REDUCED, .root = root)

ENTRIES(COLL_Reduce_scatter_block, COLL_Ireduce_scatter_block, COLL_Reduce_scatter_block_init,
        COLL_OPERATION_REDUCE_SCATTER, (REDUCED, ), SET_REDUCED)

ENTRIES(COLL_Reduce_scatter, COLL_Ireduce_scatter, COLL_Reduce_scatter_init,
        COLL_OPERATION_REDUCE_SCATTER,
        (const void *send_buffer, void *receive_buffer, const MPI_Count receive_counts[],
         MPI_Datatype type, MPI_Op op, ),
        .send = send_buffer, .receive = receive_buffer, .receive_type = type, .op = op,
        .uneven = &(coll_uneven){.receive_counts = receive_counts})

ENTRIES(COLL_Allgather, COLL_Iallgather, COLL_Allgather_init, COLL_OPERATION_ALLGATHER, (BLOCKS, ),
        SET_BLOCKS)

ENTRIES(COLL_Allgatherv, COLL_Iallgatherv, COLL_Allgatherv_init, COLL_OPERATION_ALLGATHER,
        (BLOCKS_V, ), SET_BLOCKS_V)

ENTRIES(COLL_Alltoall, COLL_Ialltoall, COLL_Alltoall_init, COLL_OPERATION_ALLTOALL, (BLOCKS, ),
        SET_BLOCKS)

ENTRIES(COLL_Alltoallv, COLL_Ialltoallv, COLL_Alltoallv_init, COLL_OPERATION_ALLTOALL, (BOTH_V, ),
        SET_BOTH_V)

ENTRIES(COLL_Alltoallw, COLL_Ialltoallw, COLL_Alltoallw_init, COLL_OPERATION_ALLTOALL, (BOTH_W, ),
        SET_BOTH_W)

ENTRIES(COLL_Scatter, COLL_Iscatter, COLL_Scatter_init, COLL_OPERATION_SCATTER,
        (BLOCKS, int root, ), SET_BLOCKS, .root = root)

ENTRIES(COLL_Scatterv, COLL_Iscatterv, COLL_Scatterv_init, COLL_OPERATION_SCATTER,
        (const void *send_buffer, const MPI_Count send_counts[], const MPI_Aint displacements[],
         MPI_Datatype send_type, void *receive_buffer, MPI_Count receive_count,
         MPI_Datatype receive_type, int root, ),
        .send = send_buffer, .send_type = send_type, .receive = receive_buffer,
        .receive_count = receive_count, .receive_type = receive_type, .root = root,
        .uneven = &(coll_uneven){.send_counts = send_counts, .send_places = displacements})

ENTRIES(COLL_Barrier, COLL_Ibarrier, COLL_Barrier_init, COLL_OPERATION_BARRIER, (), .root = 0)

ENTRIES(COLL_Scan, COLL_Iscan, COLL_Scan_init, COLL_OPERATION_SCAN, (REDUCED, ), SET_REDUCED)

ENTRIES(COLL_Exscan, COLL_Iexscan, COLL_Exscan_init, COLL_OPERATION_EXSCAN, (REDUCED, ),
        SET_REDUCED)

ENTRIES(COLL_Neighbor_allgather, COLL_Ineighbor_allgather, COLL_Neighbor_allgather_init,
        COLL_OPERATION_NEIGHBOR_ALLGATHER, (BLOCKS, ), SET_BLOCKS)

ENTRIES(COLL_Neighbor_allgatherv, COLL_Ineighbor_allgatherv, COLL_Neighbor_allgatherv_init,
        COLL_OPERATION_NEIGHBOR_ALLGATHER, (BLOCKS_V, ), SET_BLOCKS_V)

ENTRIES(COLL_Neighbor_alltoall, COLL_Ineighbor_alltoall, COLL_Neighbor_alltoall_init,
        COLL_OPERATION_NEIGHBOR_ALLTOALL, (BLOCKS, ), SET_BLOCKS)

ENTRIES(COLL_Neighbor_alltoallv, COLL_Ineighbor_alltoallv, COLL_Neighbor_alltoallv_init,
        COLL_OPERATION_NEIGHBOR_ALLTOALL, (BOTH_V, ), SET_BOTH_V)

ENTRIES(COLL_Neighbor_alltoallw, COLL_Ineighbor_alltoallw, COLL_Neighbor_alltoallw_init,
        COLL_OPERATION_NEIGHBOR_ALLTOALL, (BOTH_W, ), SET_BOTH_W)
