/*
 * A call of any operation but aggregate: its user's arguments, and what they describe as plans see
 * it. Written once for all of them; lib/operation/operations.h has what makes them differ.
 */
#ifndef COLL_LIB_OPERATION_COLLECTIVE_H
#define COLL_LIB_OPERATION_COLLECTIVE_H

#include "lib/algorithm/line.h"
#include "lib/base/blocks.h"
#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/base/reduction.h"
#include "lib/base/substitute.h"
#include "lib/operation/operations.h"
#include "lib/schedule/course.h"

#include <mpi.h>

/* Where sizes differ by rank: of each rank, in extents. NULL for what an operation hasn't got. */
typedef struct coll_uneven {
    const MPI_Count *send_counts;
    const MPI_Aint *send_places;
    const MPI_Count *receive_counts;
    const MPI_Aint *receive_places;
} coll_uneven;

/*
 * The arguments, as MPI has them; those that an operation hasn't got are 0. A reduction's count and
 * type are those of what is received, and so are a broadcast's, which sends in place. Of 80 bytes
 * at most, which a compiler clears without a loop.
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
    const coll_uneven *uneven; /* NULL, the same on all ranks, where there are counts alone */
} coll_user;

typedef struct coll_collective {
    coll_comm *comm;
    coll_operation operation;
    const coll_user *user;
    coll_shape shape;      /* what all ranks know of it */
    int tag;               /* of its messages, and the next; 0: the usual */
    const coll_line *line; /* of its own, where it is started; NULL: the communicator's */

    coll_data data, input;           /* where they are one piece */
    coll_blocks blocks, inputs;      /* where they are blocks */
    bool has_blocks, has_inputs;     /* whether they are */
    coll_data own, own_into;         /* what a start copies, and where to */
    bool own_opened;                 /* it isn't a part of the others */
    const coll_reduction *reduction; /* NULL: none */
    coll_reduction how;
    MPI_Aint *places; /* of a reduce_scatter's blocks, where they differ */

    /* Where the input lies in what is written: so much memory from LOWEST on is copied at each
     * start, and the input is the copy. */
    size_t copied;
    char *lowest, *copy;
} coll_collective;

/*
 * Checks USER's arguments of OPERATION on COMM and describes the call. Close it even after an
 * error. Errors: MPI_ERR_BUFFER, _COUNT, _TYPE, _OP, _ROOT, _NO_MEM; not raised.
 */
int coll_collective_open(coll_collective *call, coll_operation operation, const coll_user *user,
                         coll_comm *comm);
void coll_collective_close(coll_collective *call);

/* Whether nothing has to be sent: a start does all. The same on all ranks. */
bool coll_collective_is_local(const coll_collective *call);

/* The shape's bytes, or where sizes differ what comes to this rank, or from a scatter's root. */
size_t coll_collective_amount(const coll_collective *call);

/* Copies what this rank has itself to where it belongs; before each start. */
void coll_collective_begin(coll_collective *call);

/* The memory that is copied at each start is at COPY, of the caller's. */
void coll_collective_move_input(coll_collective *call, char *copy);

/* Whether it has such memory: the same on all ranks. */
static inline bool coll_collective_copies(const coll_collective *call) {
    return call->lowest;
}

/* What dedicated processors take of such a call on COMM: a shape's served bytes. Local. */
static inline size_t coll_collective_served(coll_operation operation, const coll_comm *comm,
                                            MPI_Datatype type, MPI_Op op) {
    return operation == COLL_OPERATION_ALLREDUCE ? coll_dcp_served(comm->user, type, op) : 0;
}

/* Runs CALL, a coll_collective: the entry of the operations' table. */
int coll_collective_run(const coll_algorithm *algorithm, const void *call,
                        const coll_values *values);

/* This rank's part in CALL, which outlives it, by ALGORITHM with VALUES. */
coll_planned coll_collective_planned(const coll_algorithm *algorithm, const coll_collective *call,
                                     const coll_values *values);

/*
 * The MPI library's own, on COMM: nonblocking where REQUEST isn't NULL; *INTS, for coll_spare_free
 * when it is complete, are counts that it needs until then. Errors are raised on COMM: its own, and
 * MPI_ERR_COUNT for counts that it can't take.
 */
int coll_collective_native(coll_operation operation, const coll_user *user, MPI_Comm comm,
                           MPI_Request *request, int **ints);

/* The MPI library's own, at the head of each table. */
extern const coll_algorithm coll_allreduce_native, coll_reduce_native, coll_reduce_scatter_native,
    coll_allgather_native, coll_alltoall_native, coll_scatter_native, coll_barrier_native,
    coll_scan_native, coll_exscan_native;

/* Whether its counts are such that it can take them, where that is seen at once. */
static inline bool coll_collective_fits(const coll_user *user) {
    return user->send_count <= INT32_MAX && user->receive_count <= INT32_MAX;
}

#endif
