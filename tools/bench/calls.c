/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/bench/calls.h"

#include <limits.h>

/* Return the sizes and places of blocks in the form that libcoll or MPI takes. */
static const void *sizes(const operation_part *part, operation_manner how) {
    return how < OPERATION_MPI ? (const void *)part->sizes : part->ints;
}

static const void *places(const operation_run *run, const operation_part *part,
                          operation_manner how) {
    return how < OPERATION_MPI ? (const void *)part->places : part->ints + run->ranks;
}

/*
 * Defines call_NAME. All kinds of calls have the same arguments before the communicator, except for
 * the type of counts.
 */
#define CALL(name, blocking, nonblocking, ...)                                                     \
    int call_##name(operation_manner how, const operation_run *run, MPI_Comm comm,                 \
                    operation_request *request) {                                                  \
        (void)run;                                                                                 \
        switch (how) {                                                                             \
        case OPERATION_OURS:                                                                       \
            return COLL_##blocking(__VA_ARGS__ comm);                                              \
        case OPERATION_STARTED:                                                                    \
            return COLL_##nonblocking(__VA_ARGS__ comm, &request->ours);                           \
        case OPERATION_PERSISTENT:                                                                 \
            return COLL_##blocking##_init(__VA_ARGS__ comm, MPI_INFO_NULL, &request->ours);        \
        case OPERATION_MPI:                                                                        \
            return run->most > INT_MAX ? MPI_ERR_COUNT : MPI_##blocking(__VA_ARGS__ comm);         \
        default:                                                                                   \
            return run->most > INT_MAX ? MPI_ERR_COUNT                                             \
                                       : MPI_##nonblocking(__VA_ARGS__ comm, &request->mpi);       \
        }                                                                                          \
    }

/* Moved data are bytes; reduced data are floats, which are added. */
#define SUM MPI_FLOAT, MPI_SUM,
#define BYTES(part) (part).at, (part).count, MPI_BYTE,
#define EACH(part) (part).at, run->bytes, MPI_BYTE,
#define VARYING(part) (part).at, sizes(&(part), how), places(run, &(part), how), MPI_BYTE,

CALL(bcast, Bcast, Ibcast, EACH(run->out) run->root, )
CALL(gather, Gather, Igather, BYTES(run->in) EACH(run->out) run->root, )
CALL(gatherv, Gatherv, Igatherv, BYTES(run->in) VARYING(run->out) run->root, )
CALL(scatter, Scatter, Iscatter, EACH(run->in) BYTES(run->out) run->root, )
CALL(scatterv, Scatterv, Iscatterv, VARYING(run->in) BYTES(run->out) run->root, )
CALL(allgather, Allgather, Iallgather, BYTES(run->in) EACH(run->out))
CALL(allgatherv, Allgatherv, Iallgatherv, BYTES(run->in) VARYING(run->out))
CALL(alltoall, Alltoall, Ialltoall, EACH(run->in) EACH(run->out))
CALL(alltoallv, Alltoallv, Ialltoallv, VARYING(run->in) VARYING(run->out))
CALL(barrier, Barrier, Ibarrier, )
CALL(allreduce, Allreduce, Iallreduce, run->in.at, run->out.at, run->in.count, SUM)
CALL(reduce, Reduce, Ireduce, run->in.at, run->out.at, run->in.count, SUM run->root, )
CALL(scan, Scan, Iscan, run->in.at, run->out.at, run->in.count, SUM)
CALL(exscan, Exscan, Iexscan, run->in.at, run->out.at, run->in.count, SUM)
CALL(reduce_scatter, Reduce_scatter, Ireduce_scatter, run->in.at, run->out.at, sizes(&run->in, how),
     SUM)
CALL(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, run->in.at, run->out.at,
     run->out.count, SUM)
