/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations that the component runs with libcoll, and the functions of each: entries of Open
 * MPI's table of collectives. All code that is repeated for each of them is generated from these
 * lists.
 */
#ifndef COLL_OMPI_OPERATIONS_H
#define COLL_OMPI_OPERATIONS_H

/* EACH(operation, setting), with libcoll's names. */
#define LIBCOLL_OPERATIONS(EACH)                                                                   \
    EACH(bcast, "COLL_BCAST")                                                                      \
    EACH(gather, "COLL_GATHER")                                                                    \
    EACH(allreduce, "COLL_ALLREDUCE")                                                              \
    EACH(reduce, "COLL_REDUCE")                                                                    \
    EACH(reduce_scatter, "COLL_REDUCE_SCATTER")                                                    \
    EACH(allgather, "COLL_ALLGATHER")                                                              \
    EACH(alltoall, "COLL_ALLTOALL")                                                                \
    EACH(scatter, "COLL_SCATTER")                                                                  \
    EACH(barrier, "COLL_BARRIER")                                                                  \
    EACH(scan, "COLL_SCAN")                                                                        \
    EACH(exscan, "COLL_EXSCAN")                                                                    \
    EACH(neighbor_allgather, "COLL_NEIGHBOR_ALLGATHER")                                            \
    EACH(neighbor_alltoall, "COLL_NEIGHBOR_ALLTOALL")

/* EACH(function) of the blocking functions; the others are i<function> and <function>_init. */
#define LIBCOLL_FUNCTIONS(EACH)                                                                    \
    EACH(bcast)                                                                                    \
    EACH(gather)                                                                                   \
    EACH(gatherv)                                                                                  \
    EACH(allreduce)                                                                                \
    EACH(reduce)                                                                                   \
    EACH(reduce_scatter)                                                                           \
    EACH(reduce_scatter_block)                                                                     \
    EACH(allgather)                                                                                \
    EACH(allgatherv)                                                                               \
    EACH(alltoall)                                                                                 \
    EACH(alltoallv)                                                                                \
    EACH(alltoallw)                                                                                \
    EACH(scatter)                                                                                  \
    EACH(scatterv)                                                                                 \
    EACH(barrier)                                                                                  \
    EACH(scan)                                                                                     \
    EACH(exscan)                                                                                   \
    EACH(neighbor_allgather)                                                                       \
    EACH(neighbor_allgatherv)                                                                      \
    EACH(neighbor_alltoall)                                                                        \
    EACH(neighbor_alltoallv)                                                                       \
    EACH(neighbor_alltoallw)

typedef enum libcoll_operation {
#define NUMBER(operation, setting) LIBCOLL_##operation,
    LIBCOLL_OPERATIONS(NUMBER)
#undef NUMBER
        LIBCOLL_COUNT
} libcoll_operation;

#endif
