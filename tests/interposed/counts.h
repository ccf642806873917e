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
#define MPI_Allgather_init MPI_Allgather_init_c
#define MPI_Allgatherv MPI_Allgatherv_c
#define MPI_Allgatherv_init MPI_Allgatherv_init_c
#define MPI_Allreduce MPI_Allreduce_c
#define MPI_Allreduce_init MPI_Allreduce_init_c
#define MPI_Alltoall MPI_Alltoall_c
#define MPI_Alltoall_init MPI_Alltoall_init_c
#define MPI_Alltoallv MPI_Alltoallv_c
#define MPI_Alltoallv_init MPI_Alltoallv_init_c
#define MPI_Alltoallw MPI_Alltoallw_c
#define MPI_Alltoallw_init MPI_Alltoallw_init_c
#define MPI_Bcast MPI_Bcast_c
#define MPI_Bcast_init MPI_Bcast_init_c
#define MPI_Exscan MPI_Exscan_c
#define MPI_Exscan_init MPI_Exscan_init_c
#define MPI_Gather MPI_Gather_c
#define MPI_Gather_init MPI_Gather_init_c
#define MPI_Gatherv MPI_Gatherv_c
#define MPI_Gatherv_init MPI_Gatherv_init_c
#define MPI_Iallgather MPI_Iallgather_c
#define MPI_Iallgatherv MPI_Iallgatherv_c
#define MPI_Iallreduce MPI_Iallreduce_c
#define MPI_Ialltoall MPI_Ialltoall_c
#define MPI_Ialltoallv MPI_Ialltoallv_c
#define MPI_Ialltoallw MPI_Ialltoallw_c
#define MPI_Ibcast MPI_Ibcast_c
#define MPI_Iexscan MPI_Iexscan_c
#define MPI_Igather MPI_Igather_c
#define MPI_Igatherv MPI_Igatherv_c
#define MPI_Ireduce MPI_Ireduce_c
#define MPI_Ireduce_scatter MPI_Ireduce_scatter_c
#define MPI_Ireduce_scatter_block MPI_Ireduce_scatter_block_c
#define MPI_Iscan MPI_Iscan_c
#define MPI_Iscatter MPI_Iscatter_c
#define MPI_Iscatterv MPI_Iscatterv_c
#define MPI_Neighbor_allgather MPI_Neighbor_allgather_c
#define MPI_Neighbor_allgatherv MPI_Neighbor_allgatherv_c
#define MPI_Neighbor_alltoall MPI_Neighbor_alltoall_c
#define MPI_Neighbor_alltoallv MPI_Neighbor_alltoallv_c
#define MPI_Neighbor_alltoallw MPI_Neighbor_alltoallw_c
#define MPI_Recv MPI_Recv_c
#define MPI_Reduce MPI_Reduce_c
#define MPI_Reduce_init MPI_Reduce_init_c
#define MPI_Reduce_scatter MPI_Reduce_scatter_c
#define MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c
#define MPI_Reduce_scatter_block_init MPI_Reduce_scatter_block_init_c
#define MPI_Reduce_scatter_init MPI_Reduce_scatter_init_c
#define MPI_Scan MPI_Scan_c
#define MPI_Scan_init MPI_Scan_init_c
#define MPI_Scatter MPI_Scatter_c
#define MPI_Scatter_init MPI_Scatter_init_c
#define MPI_Scatterv MPI_Scatterv_c
#define MPI_Scatterv_init MPI_Scatterv_init_c
#define MPI_Send MPI_Send_c
#define MPI_Sendrecv MPI_Sendrecv_c
#define MPI_Sendrecv_replace MPI_Sendrecv_replace_c
#else
typedef int count_of_elements;
typedef int displacement;
#endif

#endif
