/* The public entries of all operations: blocking, nonblocking and persistent. */
#include "config.h"

#include "coll.h"
#include "lib/aggregate/aggregate.h"
#include "lib/aggregate/pool.h"
#include "lib/base/dcp_hooks.h"
#include "lib/base/error.h"
#include "lib/call/args.h"
#include "lib/call/dispatch.h"
#include "lib/call/request.h"
#include "lib/tuning/state.h"

#include <stdlib.h>

/* --- Blocking --- */

/* Returns whether the call's datatype and operation are those of the last call described. */
static bool is_known(const coll_state *state, coll_operation operation, const coll_user *user) {
    if (user->uneven || operation == COLL_OPERATION_SCATTER ||
        user->receive_type != state->plain_type)
        return false;
    return !coll_operations[operation].reduces ||
           (user->op == state->known_op && user->receive_type == state->known_type);
}

/* Returns the bytes of the call's shape; 0 if that requires describing the call. */
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
 * Returns whether the call reduces as LAST did, which had the same datatype. Asks MPI each time
 * whether the operation commutes: a new operation can have the handle of a freed one, perhaps on
 * some ranks only.
 */
static bool reduces_like(const coll_state *state, coll_operation operation, const coll_user *user,
                         const coll_shape *last) {
    int commutes = 1;
    (void)PMPI_Op_commutative(user->op, &commutes); /* valid, since it is the known one */
    return (last->reproducible || !commutes) == last->ordered &&
           last->element == (size_t)state->plain_bytes &&
           last->served ==
               coll_call_args_served(operation, state->comm, user->receive_type, user->op);
}

/* Returns whether the call's shape, which is not described, is that of the last native call. */
static bool is_native_again(const coll_state *state, coll_operation operation,
                            const coll_user *user) {
    const coll_operation_info *info = &coll_operations[operation];
    const size_t bytes = known_bytes(state, operation, user);
    return bytes > 0 &&
           coll_state_native_again(state, operation, bytes,
                                   info->rootless ? COLL_NO_ROOT : user->root) &&
           (!info->reduces || reduces_like(state, operation, user, &state->last_native[operation]));
}

/*
 * The fast path: returns COMM's state if the call can go to the MPI library's own collective
 * directly, else NULL. Describing the data, choosing and tracing would take longer than a small
 * collective itself. Both paths send the same messages, so ranks may differ in the path they take.
 *
 * The call can go directly on one node, where all calls are native, and if it is the same as the
 * last call of the operation that ran natively.
 */
static const coll_comm *can_go_directly(coll_operation operation, const coll_user *user,
                                        MPI_Comm comm) {
    const coll_comm *own = coll_comm_recent(comm);
    if (!own || !coll_wait_as_mpi(&own->wait) || !coll_call_args_fits(user))
        return NULL;
    const coll_state *state = coll_state_of(own);
    return state->native[operation] || is_native_again(state, operation, user) ? own : NULL;
}

/*
 * The same for a broadcast or a gather, whose native algorithm passes bytes (lib/bcast/native.c);
 * sets *BYTES to those of this rank's data. The data must fit the communicator's scratch memory,
 * whose size is the same on all ranks, and one native call. Empty calls don't take the fast path,
 * since they send nothing.
 */
static inline const coll_comm *can_go_directly_as_bytes(coll_operation operation, MPI_Comm comm,
                                                        MPI_Count count, MPI_Datatype type,
                                                        int root, int *bytes) {
    const coll_comm *own = coll_comm_recent(comm);
    if (!own || !coll_wait_as_mpi(&own->wait))
        return NULL;
    const coll_state *state = coll_state_of(own);
    const size_t most = own->room_bytes < COLL_NATIVE_MOST ? own->room_bytes : COLL_NATIVE_MOST;
    const int blocks = coll_operations[operation].blocks ? own->ranks : 1;
    MPI_Count size;
    size_t room;
    if (type != state->plain_type || __builtin_mul_overflow(count, state->plain_bytes, &size) ||
        size <= 0 || __builtin_mul_overflow(size, blocks, &room) || room > most ||
        (!state->native[operation] &&
         !coll_state_native_again(state, operation, (size_t)size, root)))
        return NULL;
    *bytes = (int)size;
    return own;
}

static int run_described(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    coll_comm *own;
    int code = coll_dispatch_open(comm, &own);
    if (code != MPI_SUCCESS)
        return code;
    if (!own)
        return coll_call_args_native(operation, user, comm, NULL, NULL);
    coll_call_args call;
    code = coll_call_args_open(&call, operation, user, own);
    if (code == MPI_SUCCESS && coll_call_args_is_local(&call))
        coll_call_args_begin(&call);
    else if (code == MPI_SUCCESS)
        code = coll_dispatch_run(own, operation, &call.shape, coll_call_args_amount(&call), &call);
    coll_call_args_close(&call);
    return coll_raise(comm, code);
}

static int run_blocking(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    const coll_comm *direct = can_go_directly(operation, user, comm);
    if (direct)
        return coll_raise(comm,
                          coll_call_args_native(operation, user, direct->private, NULL, NULL));
    return run_described(operation, user, comm);
}

static int run_bcast(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    int bytes;
    const coll_comm *direct = can_go_directly_as_bytes(operation, comm, user->receive_count,
                                                       user->receive_type, user->root, &bytes);
    return direct ? coll_raise(comm, PMPI_Bcast(user->receive, bytes, MPI_BYTE, user->root,
                                                direct->private))
                  : run_described(operation, user, comm);
}

static int run_gather(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    const bool in_place = user->send == MPI_IN_PLACE;
    int bytes;
    const coll_comm *direct = can_go_directly_as_bytes(
        operation, comm, in_place ? user->receive_count : user->send_count,
        in_place ? user->receive_type : user->send_type, user->root, &bytes);
    bool receives = direct && direct->rank == user->root;
    bool alike = user->receive_count == user->send_count && user->receive_type == user->send_type;
    if (!direct || (in_place && !receives) || (receives && !in_place && !alike))
        return run_described(operation, user, comm);
    return coll_raise(comm,
                      PMPI_Gather(user->send, bytes, MPI_BYTE, user->receive, receives ? bytes : 0,
                                  MPI_BYTE, user->root, direct->private));
}

/* --- Nonblocking and persistent --- */

/* A call to be started, and the name of its entry. */
typedef struct started {
    const char *name;
    coll_operation operation;
    const coll_user *user;
} started;

/* Sets *OWN to COMM's state if libcoll runs a nonblocking OPERATION on COMM, else to NULL. The same
 * on all ranks. */
static int find_comm(MPI_Comm comm, coll_operation operation, coll_comm **own) {
    *own = comm == MPI_COMM_NULL ? NULL : coll_comm_find(comm);
    if (comm == MPI_COMM_NULL)
        return coll_raise(comm, coll_error(MPI_ERR_COMM, "null communicator"));
    if (!*own)
        return MPI_SUCCESS;
    if (coll_state_of(*own)->specs[operation].algorithm == coll_operations[operation].table[0])
        *own = NULL;
    return *own ? coll_raise(comm, (*own)->broken) : MPI_SUCCESS;
}

static int create_request(const started *entry, MPI_Comm comm, coll_comm *own,
                          coll_request **made) {
    *made = coll_request_create(entry->name, comm, own ? own->ranks : 0);
    if (!*made)
        return coll_raise(comm,
                          coll_error(MPI_ERR_NO_MEM, "%s: no memory for a request", entry->name));
    (*made)->comm = own;
    return MPI_SUCCESS;
}

/* Sets *REQUEST to PENDING, or frees PENDING if CODE is an error. Returns CODE. */
static int hand_out(coll_request *pending, int code, COLL_Request *request) {
    if (code == MPI_SUCCESS)
        *request = pending;
    else
        coll_request_free(pending);
    return code;
}

static int start_or_prepare(const started *entry, coll_comm *own, bool persistent, MPI_Comm comm,
                            COLL_Request *request) {
    coll_request *pending;
    int code = create_request(entry, comm, own, &pending);
    if (code != MPI_SUCCESS)
        return code;
    code = coll_request_prepare(pending, entry->operation, entry->user);
    if (persistent)
        code = coll_request_keep(pending, code);
    else if (code == MPI_SUCCESS)
        code = coll_request_start(pending);
    return coll_raise(comm, hand_out(pending, code, request));
}

static int start_natively(const started *entry, MPI_Comm comm, COLL_Request *request) {
    coll_request *pending;
    MPI_Request native = MPI_REQUEST_NULL;
    int code = create_request(entry, comm, NULL, &pending);
    if (code != MPI_SUCCESS)
        return code;
    code = coll_call_args_native(entry->operation, entry->user, coll_dcp_comm(comm), &native,
                                 &pending->native_arguments);
    if (code == MPI_SUCCESS)
        coll_request_start_native(pending, native);
    return hand_out(pending, code, request);
}

/*
 * Starts a nonblocking call. The MPI library runs it if the communicator is not set up or is an
 * intercommunicator, or if the user asks for native.
 */
static int start_nonblocking(const started *entry, MPI_Comm comm, COLL_Request *request) {
    coll_comm *own;
    int code = find_comm(comm, entry->operation, &own);
    if (code != MPI_SUCCESS)
        return code;
    return own ? start_or_prepare(entry, own, false, comm, request)
               : start_natively(entry, comm, request);
}

/* Creates a persistent request; collective. */
static int create_persistent(const started *entry, MPI_Comm comm, COLL_Request *request) {
    coll_comm *own;
    int code = coll_dispatch_open_intra(comm, entry->name, &own);
    return code == MPI_SUCCESS ? start_or_prepare(entry, own, true, comm, request) : code;
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
        return run(operation, &user, comm);                                                        \
    }                                                                                              \
    int nonblocking(EACH parameters MPI_Comm comm, COLL_Request *request) {                        \
        const coll_user user = {__VA_ARGS__};                                                      \
        return start_nonblocking(&(started){__func__, operation, &user}, comm, request);           \
    }                                                                                              \
    int persistent(EACH parameters MPI_Comm comm, MPI_Info info, COLL_Request *request) {          \
        const coll_user user = {__VA_ARGS__};                                                      \
        (void)info;                                                                                \
        return create_persistent(&(started){__func__, operation, &user}, comm, request);           \
    }

ENTRIES_BY(run_bcast, COLL_Bcast, COLL_Ibcast, COLL_Bcast_init, COLL_OPERATION_BCAST,
           (void *buffer, MPI_Count count, MPI_Datatype type, int root, ), .send = MPI_IN_PLACE,
           .receive = buffer, .receive_count = count, .receive_type = type, .root = root)

ENTRIES_BY(run_gather, COLL_Gather, COLL_Igather, COLL_Gather_init, COLL_OPERATION_GATHER,
           (const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
            void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, int root, ),
           .send = send_buffer, .send_count = send_count, .send_type = send_type,
           .receive = receive_buffer, .receive_count = receive_count, .receive_type = receive_type,
           .root = root)

ENTRIES_BY(run_described, COLL_Gatherv, COLL_Igatherv, COLL_Gatherv_init, COLL_OPERATION_GATHER,
           (const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
            void *receive_buffer, const MPI_Count receive_counts[], const MPI_Aint displacements[],
            MPI_Datatype receive_type, int root, ),
           .send = send_buffer, .send_count = send_count, .send_type = send_type,
           .receive = receive_buffer, .receive_type = receive_type, .root = root,
           .uneven = &(coll_uneven){.receive_counts = receive_counts,
                                    .receive_places = displacements})

ENTRIES(COLL_Allreduce, COLL_Iallreduce, COLL_Allreduce_init, COLL_OPERATION_ALLREDUCE,
        (const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type,
         MPI_Op op, ),
        .send = send_buffer, .receive = receive_buffer, .receive_count = count,
        .receive_type = type, .op = op)

ENTRIES(COLL_Reduce, COLL_Ireduce, COLL_Reduce_init, COLL_OPERATION_REDUCE,
        (const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type,
         MPI_Op op, int root, ),
        .send = send_buffer, .receive = receive_buffer, .receive_count = count,
        .receive_type = type, .op = op, .root = root)

ENTRIES(COLL_Reduce_scatter_block, COLL_Ireduce_scatter_block, COLL_Reduce_scatter_block_init,
        COLL_OPERATION_REDUCE_SCATTER,
        (const void *send_buffer, void *receive_buffer, MPI_Count receive_count, MPI_Datatype type,
         MPI_Op op, ),
        .send = send_buffer, .receive = receive_buffer, .receive_count = receive_count,
        .receive_type = type, .op = op)

ENTRIES(COLL_Reduce_scatter, COLL_Ireduce_scatter, COLL_Reduce_scatter_init,
        COLL_OPERATION_REDUCE_SCATTER,
        (const void *send_buffer, void *receive_buffer, const MPI_Count receive_counts[],
         MPI_Datatype type, MPI_Op op, ),
        .send = send_buffer, .receive = receive_buffer, .receive_type = type, .op = op,
        .uneven = &(coll_uneven){.receive_counts = receive_counts})

ENTRIES(COLL_Allgather, COLL_Iallgather, COLL_Allgather_init, COLL_OPERATION_ALLGATHER,
        (const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
         void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, ),
        .send = send_buffer, .send_count = send_count, .send_type = send_type,
        .receive = receive_buffer, .receive_count = receive_count, .receive_type = receive_type)

ENTRIES(COLL_Allgatherv, COLL_Iallgatherv, COLL_Allgatherv_init, COLL_OPERATION_ALLGATHER,
        (const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
         void *receive_buffer, const MPI_Count receive_counts[], const MPI_Aint displacements[],
         MPI_Datatype receive_type, ),
        .send = send_buffer, .send_count = send_count, .send_type = send_type,
        .receive = receive_buffer, .receive_type = receive_type,
        .uneven = &(coll_uneven){.receive_counts = receive_counts, .receive_places = displacements})

ENTRIES(COLL_Alltoall, COLL_Ialltoall, COLL_Alltoall_init, COLL_OPERATION_ALLTOALL,
        (const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
         void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, ),
        .send = send_buffer, .send_count = send_count, .send_type = send_type,
        .receive = receive_buffer, .receive_count = receive_count, .receive_type = receive_type)

ENTRIES(COLL_Alltoallv, COLL_Ialltoallv, COLL_Alltoallv_init, COLL_OPERATION_ALLTOALL,
        (const void *send_buffer, const MPI_Count send_counts[],
         const MPI_Aint send_displacements[], MPI_Datatype send_type, void *receive_buffer,
         const MPI_Count receive_counts[], const MPI_Aint receive_displacements[],
         MPI_Datatype receive_type, ),
        .send = send_buffer, .send_type = send_type, .receive = receive_buffer,
        .receive_type = receive_type,
        .uneven = &(coll_uneven){send_counts, send_displacements, receive_counts,
                                 receive_displacements})

ENTRIES(COLL_Scatter, COLL_Iscatter, COLL_Scatter_init, COLL_OPERATION_SCATTER,
        (const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
         void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, int root, ),
        .send = send_buffer, .send_count = send_count, .send_type = send_type,
        .receive = receive_buffer, .receive_count = receive_count, .receive_type = receive_type,
        .root = root)

ENTRIES(COLL_Scatterv, COLL_Iscatterv, COLL_Scatterv_init, COLL_OPERATION_SCATTER,
        (const void *send_buffer, const MPI_Count send_counts[], const MPI_Aint displacements[],
         MPI_Datatype send_type, void *receive_buffer, MPI_Count receive_count,
         MPI_Datatype receive_type, int root, ),
        .send = send_buffer, .send_type = send_type, .receive = receive_buffer,
        .receive_count = receive_count, .receive_type = receive_type, .root = root,
        .uneven = &(coll_uneven){.send_counts = send_counts, .send_places = displacements})

ENTRIES(COLL_Barrier, COLL_Ibarrier, COLL_Barrier_init, COLL_OPERATION_BARRIER, (), .root = 0)

ENTRIES(COLL_Scan, COLL_Iscan, COLL_Scan_init, COLL_OPERATION_SCAN,
        (const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type,
         MPI_Op op, ),
        .send = send_buffer, .receive = receive_buffer, .receive_count = count,
        .receive_type = type, .op = op)

ENTRIES(COLL_Exscan, COLL_Iexscan, COLL_Exscan_init, COLL_OPERATION_EXSCAN,
        (const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type,
         MPI_Op op, ),
        .send = send_buffer, .receive = receive_buffer, .receive_count = count,
        .receive_type = type, .op = op)

int COLL_Aggregate(COLL_Pool *pool, int root, MPI_Comm comm, COLL_Aggregate_stats *stats) {
    coll_comm *own;
    int code = coll_dispatch_open_intra(comm, "COLL_Aggregate", &own);
    if (code != MPI_SUCCESS)
        return code;
    coll_shape shape =
        coll_state_shape(coll_state_of(own), COLL_OPERATION_AGGREGATE, COLL_BYTES_UNKNOWN, root);
    coll_aggregate_call call = {.pool = pool, .comm = own, .shape = &shape, .stats = stats};
    size_t bytes = pool ? coll_pool_bytes(pool) : 0;
    return coll_raise(comm, coll_dispatch_run(own, COLL_OPERATION_AGGREGATE, &shape, bytes, &call));
}
