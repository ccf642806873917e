/*
 * The public entries of allreduce, alltoall and their like: blocking, nonblocking and persistent
 * ones. They differ in their arguments alone.
 */
#include "config.h"

#include "coll.h"
#include "lib/base/error.h"
#include "lib/base/substitute.h"
#include "lib/operation/call.h"
#include "lib/operation/collective.h"
#include "lib/operation/pending.h"
#include "lib/operation/state.h"
#include "lib/request.h"

#include <stdlib.h>

/* Whether the call's type and operation are known from the last one that was described. */
static bool is_known(const coll_state *state, coll_operation operation, const coll_user *user) {
    if (user->uneven || operation == COLL_OPERATION_SCATTER ||
        user->receive_type != state->plain_type)
        return false;
    return !coll_operations[operation].reduces ||
           (user->op == state->known_op && user->receive_type == state->known_type);
}

/* The call's bytes as they would be described; 0 where its type had to be looked at. */
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
 * The call as it would be described; of no bytes where that isn't known. Whether the operation
 * commutes is asked each time: it may have the handle of one that is gone, on some ranks alone.
 */
static coll_shape known_shape(const coll_state *state, coll_operation operation,
                              const coll_user *user) {
    const coll_operation_info *info = &coll_operations[operation];
    coll_shape shape = coll_state_shape(state, operation, known_bytes(state, operation, user),
                                        info->rootless ? COLL_NO_ROOT : user->root);
    if (info->reduces && shape.bytes > 0) {
        int commutes = 1;
        (void)PMPI_Op_commutative(user->op, &commutes); /* it was found to be good */
        shape.element = (size_t)state->plain_bytes;
        shape.ordered |= !commutes;
    }
    return shape;
}

/*
 * On one node all calls are the MPI library's, and there is nothing to describe or to choose; nor
 * is there for one like the last of its size that was.
 */
static const coll_comm *directly(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    const coll_comm *own = coll_comm_recent(comm);
    if (!own || own->wait.timeout > 0 || !coll_collective_fits(user))
        return NULL;
    const coll_state *state = coll_state_of(own);
    if (state->decisions[operation].native)
        return own;
    coll_shape shape = known_shape(state, operation, user);
    return shape.bytes > 0 && coll_state_native_again(state, operation, &shape) ? own : NULL;
}

static int run(coll_operation operation, const coll_user *user, MPI_Comm comm) {
    const coll_comm *direct = directly(operation, user, comm);
    if (direct)
        return coll_raise(comm,
                          coll_collective_native(operation, user, direct->private, NULL, NULL));
    coll_comm *own;
    int code = coll_call_open(comm, &own);
    if (code != MPI_SUCCESS)
        return code;
    if (!own)
        return coll_collective_native(operation, user, comm, NULL, NULL);
    coll_collective call;
    code = coll_collective_open(&call, operation, user, own);
    if (code == MPI_SUCCESS && coll_collective_is_local(&call))
        coll_collective_begin(&call);
    else if (code == MPI_SUCCESS)
        code = coll_call_run(own, operation, &call.shape, coll_collective_amount(&call), &call);
    coll_collective_close(&call);
    return coll_raise(comm, code);
}

static int prepare(coll_pending *pending, const coll_entry *entry) {
    pending->user_call = *(const coll_user *)entry->given;
    if (pending->user_call.uneven) {
        pending->uneven = *pending->user_call.uneven;
        pending->user_call.uneven = &pending->uneven;
    }
    pending->is_collective = true;
    int code = coll_collective_open(&pending->call.collective, entry->operation,
                                    &pending->user_call, pending->comm);
    if (code == MPI_SUCCESS)
        coll_pending_prepare_collective(pending);
    return code;
}

static int start_natively(const coll_entry *entry, MPI_Comm comm, MPI_Request *native,
                          int **arguments) {
    return coll_collective_native(entry->operation, entry->given, coll_dcp_comm(comm), native,
                                  arguments);
}

/* The three entries of an operation: their names, PARAMETERS in brackets, and what these mean. */
#define ENTRIES(blocking, nonblocking, persistent, operation, parameters, ...)                     \
    int blocking(COLL_EACH parameters MPI_Comm comm) {                                             \
        const coll_user user = {__VA_ARGS__};                                                      \
        return run(operation, &user, comm);                                                        \
    }                                                                                              \
    COLL_STARTED(nonblocking, persistent, operation, prepare, start_natively, coll_user,           \
                 parameters, __VA_ARGS__)

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
