/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description of a call of any operation except aggregate: the user's arguments, checked and
 * translated into what plans need. lib/algorithm/operations.h says how the operations differ.
 */
#ifndef COLL_LIB_CALL_ARGS_H
#define COLL_LIB_CALL_ARGS_H

#include "lib/algorithm/operations.h"
#include "lib/algorithm/rank_order.h"
#include "lib/base/blocks.h"
#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/base/dcp_hooks.h"
#include "lib/base/reduction.h"
#include "lib/plan/engine.h"
#include "lib/plan/task.h"

#include <mpi.h>

/* Counts and displacements of each rank, if sizes differ by rank; displacements are in extents or,
 * if each rank also has a datatype, in bytes. Arrays that an operation doesn't have are NULL. */
typedef struct coll_uneven {
    const MPI_Count *send_counts;
    const MPI_Aint *send_places;
    const MPI_Count *receive_counts;
    const MPI_Aint *receive_places;
    const MPI_Datatype *send_types, *receive_types;
} coll_uneven;

/*
 * The arguments as in MPI; those that an operation doesn't have are 0. Reductions and broadcasts,
 * which have one count and datatype, use RECEIVE_COUNT and RECEIVE_TYPE; a broadcast's send buffer
 * is MPI_IN_PLACE. At most 80 bytes, which compilers clear without a loop.
 */
typedef struct coll_user {
    const void *send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void *receive;
    MPI_Count receive_count;
    MPI_Datatype receive_type;
    MPI_Op op;
    int root;
    const coll_uneven *uneven; /* NULL, on all ranks, if the call gives one count for all ranks */
} coll_user;

typedef struct coll_call_args {
    coll_comm *comm;
    coll_operation operation;
    const coll_user *user;
    coll_shape shape;            /* what all ranks know of the call */
    int tag;                     /* first tag of its messages; 0: the blocking calls' tags */
    const coll_rank_order *line; /* a request's own rank order; NULL: the communicator's */

    coll_data data, input;           /* this rank's data and input, if they are one piece */
    coll_blocks blocks, inputs;      /* the data and input, if they are a block for each rank */
    bool has_blocks, has_inputs;     /* whether BLOCKS and INPUTS are opened */
    coll_data own, own_into;         /* source and target of this rank's local copy at a start */
    bool own_opened;                 /* this call must close OWN, which it opened for itself */
    const coll_reduction *reduction; /* HOW; NULL if the operation does not reduce */
    coll_reduction how;
    MPI_Aint *places; /* displacements of a reduce_scatter's blocks (if PACKS, in COPY); or NULL */

    /* In-place input that the results may overwrite: at each start COPIED bytes from LOWEST or, if
     * PACKS, all bytes of BLOCKS are copied to COPY, which is then the input. LOWEST is NULL if
     * there is no such input. */
    size_t copied;
    char *lowest, *copy;
    bool packs;

    bool raised; /* the call's error has been raised on the user's communicator */
} coll_call_args;

/*
 * Checks USER's arguments of OPERATION on COMM and describes the call, which must be closed even
 * after an error. GRAPH has the edges of a neighbourhood collective; if it is NULL, the MPI library
 * runs the neighbourhood collective. Returns MPI_ERR_BUFFER, _COUNT, _TYPE, _OP, _ROOT, _TRUNCATE
 * or _NO_MEM, not raised.
 */
int coll_call_args_open(coll_call_args *call, coll_operation operation, const coll_user *user,
                        coll_comm *comm, const struct coll_graph *graph);
void coll_call_args_close(coll_call_args *call);

/* Returns whether this rank is known to send and receive no messages; coll_call_args_begin then
 * completes the call. The result is the same on all ranks, except on ranks without neighbours in a
 * neighbourhood collective. */
bool coll_call_args_is_local(const coll_call_args *call);

/* Returns the shape's bytes; if these are unknown, since sizes differ by rank, the bytes of all
 * blocks of this rank or of its data. */
size_t coll_call_args_amount(const coll_call_args *call);

/* Makes the local copies before each start: this rank's own contribution, and in-place input. */
void coll_call_args_begin(coll_call_args *call);

/*
 * Uses COPY, memory of `copied` bytes that belongs to the caller, for the copy of the in-place
 * input.
 */
void coll_call_args_move_input(coll_call_args *call, char *copy);

/* Returns whether this rank's in-place input must be copied. */
static inline bool coll_call_args_copies(const coll_call_args *call) {
    return call->lowest;
}

/* Returns whether this rank must copy its in-place input, and all other ranks theirs. In an exscan,
 * and in a reduce_scatter with a count for each rank, MPI lets some ranks be in place and others
 * not, so the result is false. */
bool coll_call_args_all_copy(const coll_call_args *call);

/* Returns the bytes of in-place input, without gaps, that some ranks may have to copy and others
 * not; 0 if all or none copy it. The same on all ranks. */
size_t coll_call_args_some_copy(const coll_call_args *call);

/* Returns the size, in bytes, of the largest call of OPERATION with TYPE and OP on COMM that DCPs
 * serve; 0 if they serve none (the shape's `served`). Local. */
static inline size_t coll_call_args_served(coll_operation operation, const coll_comm *comm,
                                           MPI_Datatype type, MPI_Op op) {
    return operation == COLL_OPERATION_ALLREDUCE ? coll_dcp_served(comm->user, type, op) : 0;
}

/* Runs CALL with ALGORITHM and VALUES. */
int coll_call_args_run(coll_call_args *call, const coll_algorithm *algorithm,
                       const coll_values *values);

/* Returns the engine's arguments for running CALL with ALGORITHM and VALUES; they refer to CALL. */
coll_exec_args coll_call_args_exec(const coll_algorithm *algorithm, const coll_call_args *call,
                                   const coll_values *values);

/* Returns the communicator on which the MPI library runs OPERATION: the user's for operations among
 * neighbours, which need its topology, else the private one. */
static inline MPI_Comm coll_call_args_comm(coll_operation operation, const coll_comm *comm) {
    return coll_operations[operation].neighbors ? comm->user : comm->private;
}

/*
 * Runs the MPI library's own operation on COMM; nonblocking if REQUEST isn't NULL. In that case
 * *INTS may be set to counts that the MPI library needs until the operation is complete; the caller
 * frees them with coll_reserve_free. Raises errors on COMM: the library's own, MPI_ERR_COUNT (also
 * for counts that don't fit an int) and MPI_ERR_NO_MEM.
 */
int coll_native_run(coll_operation operation, const coll_user *user, MPI_Comm comm,
                    MPI_Request *request, int **ints);

/* The MPI library's own algorithms, the first of each table. */
extern const coll_algorithm coll_allreduce_native, coll_reduce_native, coll_reduce_scatter_native,
    coll_allgather_native, coll_alltoall_native, coll_scatter_native, coll_barrier_native,
    coll_scan_native, coll_exscan_native, coll_neighbor_allgather_native,
    coll_neighbor_alltoall_native;

/* Returns whether the counts fit an int; arrays of counts are not checked. */
static inline bool coll_call_args_fits(const coll_user *user) {
    return user->send_count <= INT32_MAX && user->receive_count <= INT32_MAX;
}

#endif
