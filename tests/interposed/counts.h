/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names collectives with counts of int or, with LARGE_COUNTS, those of MPI 4 with counts of
 * MPI_Count, MPI_X_c.
 */
#ifndef TESTS_INTERPOSED_COUNTS_H
#define TESTS_INTERPOSED_COUNTS_H

#include <mpi.h>

#ifdef LARGE_COUNTS
typedef MPI_Count count_of_elements;
typedef MPI_Aint displacement;
#define MPI_Allgather MPI_Allgather_c
#define MPI_Allgatherv MPI_Allgatherv_c
#define MPI_Allreduce MPI_Allreduce_c
#define MPI_Allreduce_init MPI_Allreduce_init_c
#define MPI_Alltoall MPI_Alltoall_c
#define MPI_Alltoallv MPI_Alltoallv_c
#define MPI_Bcast MPI_Bcast_c
#define MPI_Exscan MPI_Exscan_c
#define MPI_Gather MPI_Gather_c
#define MPI_Gatherv MPI_Gatherv_c
#define MPI_Iallreduce MPI_Iallreduce_c
#define MPI_Ialltoall MPI_Ialltoall_c
#define MPI_Ibcast MPI_Ibcast_c
#define MPI_Ireduce_scatter MPI_Ireduce_scatter_c
#define MPI_Ireduce_scatter_block MPI_Ireduce_scatter_block_c
#define MPI_Reduce MPI_Reduce_c
#define MPI_Reduce_scatter MPI_Reduce_scatter_c
#define MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c
#define MPI_Scan MPI_Scan_c
#define MPI_Scatter MPI_Scatter_c
#define MPI_Scatterv MPI_Scatterv_c
#else
typedef int count_of_elements;
typedef int displacement;
#endif

#endif
