/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libcoll: MPI collectives for commodity Ethernet, wide-area sites and high rank counts.
 *
 * Unless stated otherwise, every function is collective over its communicator, takes the arguments
 * of its MPI namesake, and returns MPI_SUCCESS or an MPI error code. Errors invoke the
 * communicator's error handler, as MPI's own do; MPI_Error_string returns their text. Buffers must
 * be in the host's memory, not in a GPU's.
 *
 * Settings come from the environment (COLL_BCAST, COLL_TOPOLOGY, ...: see coll(3)) or from
 * COLL_Set.
 */
#ifndef COLL_H
#define COLL_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the library's version as text, "0.1.0". Not collective; valid before MPI_Init. */
const char *COLL_Version(void);

/*
 * Chooses the algorithm of OPERATION ("bcast", "allreduce", ...; see COLL_Operation_name) on COMM,
 * overriding the environment. SPEC is "auto", an algorithm's name, or a name with parameters:
 * "chain:segment=32K,window=16". Collective on a communicator's first use, local afterwards; every
 * rank of COMM must make the same call at the same place among its collectives. Errors: MPI_ERR_ARG
 * if the operation, the name, a parameter or its value is unknown or out of bounds; the text names
 * what is allowed.
 */
int COLL_Set(MPI_Comm comm, const char *operation, const char *spec);

/*
 * MPI_Bcast. COUNT may exceed INT_MAX. Ranks may describe the data by different datatypes if their
 * sizes in bytes agree. BUFFER is read at ROOT and written on all other ranks.
 */
int COLL_Bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);

/*
 * MPI_Gather. Counts may exceed INT_MAX, and so may the total that the root receives. Ranks may
 * describe their data by different datatypes if the sizes in bytes agree. SEND_BUFFER may be
 * MPI_IN_PLACE at ROOT, whose block must then be in place already. The receive arguments are
 * significant only at ROOT.
 */
int COLL_Gather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                MPI_Comm comm);

/*
 * MPI_Gatherv: RECEIVE_COUNTS[i] elements of rank i go to DISPLACEMENTS[i], counted in extents of
 * RECEIVE_TYPE. Otherwise as COLL_Gather.
 */
int COLL_Gatherv(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                 void *receive_buffer, const MPI_Count receive_counts[],
                 const MPI_Aint displacements[], MPI_Datatype receive_type, int root,
                 MPI_Comm comm);

/*
 * A nonblocking operation, which continues while the program computes, or a persistent one, which
 * can be started repeatedly. All ranks of a communicator must start its nonblocking operations, and
 * create its persistent ones, in the same order. Any number of operations may be in progress, also
 * at the same time as blocking ones. Arguments, including arrays of counts and displacements, must
 * not change until the request is complete.
 *
 * A request makes progress in every call of libcoll that waits for any request or tests any. With
 * COLL_PROGRESS=thread it also makes progress in a thread of the library, if the program asks for
 * MPI_THREAD_MULTIPLE. A start never waits for other ranks: on a communicator that has not yet seen
 * a blocking COLL_ call or a COLL_..._init, a nonblocking operation is the MPI library's own.
 */
typedef struct COLL_Pending *COLL_Request;
#define COLL_REQUEST_NULL ((COLL_Request)0)

/*
 * MPI_Ibcast, MPI_Igather and MPI_Igatherv: nonblocking COLL_Bcast, COLL_Gather and COLL_Gatherv.
 * *REQUEST is complete when COLL_Wait or COLL_Test says so, which also frees it. COLL_Wait and
 * COLL_Test also return the errors that occur while the operation is in progress.
 */
int COLL_Ibcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                COLL_Request *request);
int COLL_Igather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                 void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                 MPI_Comm comm, COLL_Request *request);
int COLL_Igatherv(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                  void *receive_buffer, const MPI_Count receive_counts[],
                  const MPI_Aint displacements[], MPI_Datatype receive_type, int root,
                  MPI_Comm comm, COLL_Request *request);

/*
 * MPI_Bcast_init, MPI_Gather_init and MPI_Gatherv_init: create a persistent *REQUEST, which
 * COLL_Start can start after each completion, until COLL_Request_free. Collective; may wait for all
 * ranks, which then all have the memory that the operation needs, or all get the same error. INFO
 * may be MPI_INFO_NULL; no keys are defined yet. Returns MPI_ERR_OTHER if COMM has
 * 1024 persistent requests.
 */
int COLL_Bcast_init(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                    MPI_Info info, COLL_Request *request);
int COLL_Gather_init(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                     void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                     int root, MPI_Comm comm, MPI_Info info, COLL_Request *request);
int COLL_Gatherv_init(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                      void *receive_buffer, const MPI_Count receive_counts[],
                      const MPI_Aint displacements[], MPI_Datatype receive_type, int root,
                      MPI_Comm comm, MPI_Info info, COLL_Request *request);

/*
 * The following functions are MPI_Allreduce, MPI_Alltoall and so on, with counts that may exceed
 * INT_MAX; as blocking, nonblocking and persistent operations. The MPI library runs some calls
 * itself: on one host, on an intercommunicator, by the algorithm "native", and nonblocking calls as
 * described at COLL_Request. In these calls, counts that differ by rank, and displacements, must be
 * at most INT_MAX on all ranks. MPI_IN_PLACE is valid where MPI allows it. An MPI_Op and a datatype
 * must not be freed before the request that uses them is complete.
 *
 * A reduction with the same algorithm and parameters, over ranks placed in the same way, gives the
 * same bits on every rank and in every run; the algorithm "sites", in every run only if
 * COLL_LATENCIES is set. With COLL_REPRODUCIBLE=1 the bits of all reductions by libcoll depend on
 * the number of ranks alone. Operations that don't commute are applied in the order of the ranks.
 */
int COLL_Allreduce(const void *send_buffer, void *receive_buffer, MPI_Count count,
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int COLL_Iallreduce(const void *send_buffer, void *receive_buffer, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm, COLL_Request *request);
int COLL_Allreduce_init(const void *send_buffer, void *receive_buffer, MPI_Count count,
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                        COLL_Request *request);

int COLL_Reduce(const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type,
                MPI_Op op, int root, MPI_Comm comm);
int COLL_Ireduce(const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type,
                 MPI_Op op, int root, MPI_Comm comm, COLL_Request *request);
int COLL_Reduce_init(const void *send_buffer, void *receive_buffer, MPI_Count count,
                     MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Info info,
                     COLL_Request *request);

int COLL_Reduce_scatter_block(const void *send_buffer, void *receive_buffer,
                              MPI_Count receive_count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int COLL_Ireduce_scatter_block(const void *send_buffer, void *receive_buffer,
                               MPI_Count receive_count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                               COLL_Request *request);
int COLL_Reduce_scatter_block_init(const void *send_buffer, void *receive_buffer,
                                   MPI_Count receive_count, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm comm, MPI_Info info, COLL_Request *request);

int COLL_Reduce_scatter(const void *send_buffer, void *receive_buffer,
                        const MPI_Count receive_counts[], MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm);
int COLL_Ireduce_scatter(const void *send_buffer, void *receive_buffer,
                         const MPI_Count receive_counts[], MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, COLL_Request *request);
int COLL_Reduce_scatter_init(const void *send_buffer, void *receive_buffer,
                             const MPI_Count receive_counts[], MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm, MPI_Info info, COLL_Request *request);

int COLL_Allgather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                   void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                   MPI_Comm comm);
int COLL_Iallgather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                    void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                    MPI_Comm comm, COLL_Request *request);
int COLL_Allgather_init(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                        void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                        MPI_Comm comm, MPI_Info info, COLL_Request *request);

int COLL_Allgatherv(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                    void *receive_buffer, const MPI_Count receive_counts[],
                    const MPI_Aint displacements[], MPI_Datatype receive_type, MPI_Comm comm);
int COLL_Iallgatherv(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                     void *receive_buffer, const MPI_Count receive_counts[],
                     const MPI_Aint displacements[], MPI_Datatype receive_type, MPI_Comm comm,
                     COLL_Request *request);
int COLL_Allgatherv_init(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                         void *receive_buffer, const MPI_Count receive_counts[],
                         const MPI_Aint displacements[], MPI_Datatype receive_type, MPI_Comm comm,
                         MPI_Info info, COLL_Request *request);

int COLL_Alltoall(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                  void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                  MPI_Comm comm);
int COLL_Ialltoall(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                   void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                   MPI_Comm comm, COLL_Request *request);
int COLL_Alltoall_init(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                       void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                       MPI_Comm comm, MPI_Info info, COLL_Request *request);

int COLL_Alltoallv(const void *send_buffer, const MPI_Count send_counts[],
                   const MPI_Aint send_displacements[], MPI_Datatype send_type,
                   void *receive_buffer, const MPI_Count receive_counts[],
                   const MPI_Aint receive_displacements[], MPI_Datatype receive_type,
                   MPI_Comm comm);
int COLL_Ialltoallv(const void *send_buffer, const MPI_Count send_counts[],
                    const MPI_Aint send_displacements[], MPI_Datatype send_type,
                    void *receive_buffer, const MPI_Count receive_counts[],
                    const MPI_Aint receive_displacements[], MPI_Datatype receive_type,
                    MPI_Comm comm, COLL_Request *request);
int COLL_Alltoallv_init(const void *send_buffer, const MPI_Count send_counts[],
                        const MPI_Aint send_displacements[], MPI_Datatype send_type,
                        void *receive_buffer, const MPI_Count receive_counts[],
                        const MPI_Aint receive_displacements[], MPI_Datatype receive_type,
                        MPI_Comm comm, MPI_Info info, COLL_Request *request);

/* Displacements are in bytes. */
int COLL_Alltoallw(const void *send_buffer, const MPI_Count send_counts[],
                   const MPI_Aint send_displacements[], const MPI_Datatype send_types[],
                   void *receive_buffer, const MPI_Count receive_counts[],
                   const MPI_Aint receive_displacements[], const MPI_Datatype receive_types[],
                   MPI_Comm comm);
int COLL_Ialltoallw(const void *send_buffer, const MPI_Count send_counts[],
                    const MPI_Aint send_displacements[], const MPI_Datatype send_types[],
                    void *receive_buffer, const MPI_Count receive_counts[],
                    const MPI_Aint receive_displacements[], const MPI_Datatype receive_types[],
                    MPI_Comm comm, COLL_Request *request);
int COLL_Alltoallw_init(const void *send_buffer, const MPI_Count send_counts[],
                        const MPI_Aint send_displacements[], const MPI_Datatype send_types[],
                        void *receive_buffer, const MPI_Count receive_counts[],
                        const MPI_Aint receive_displacements[], const MPI_Datatype receive_types[],
                        MPI_Comm comm, MPI_Info info, COLL_Request *request);

int COLL_Scatter(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                 void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                 MPI_Comm comm);
int COLL_Iscatter(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                  void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                  int root, MPI_Comm comm, COLL_Request *request);
int COLL_Scatter_init(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                      void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                      int root, MPI_Comm comm, MPI_Info info, COLL_Request *request);

int COLL_Scatterv(const void *send_buffer, const MPI_Count send_counts[],
                  const MPI_Aint displacements[], MPI_Datatype send_type, void *receive_buffer,
                  MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm);
int COLL_Iscatterv(const void *send_buffer, const MPI_Count send_counts[],
                   const MPI_Aint displacements[], MPI_Datatype send_type, void *receive_buffer,
                   MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm,
                   COLL_Request *request);
int COLL_Scatterv_init(const void *send_buffer, const MPI_Count send_counts[],
                       const MPI_Aint displacements[], MPI_Datatype send_type, void *receive_buffer,
                       MPI_Count receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm,
                       MPI_Info info, COLL_Request *request);

int COLL_Barrier(MPI_Comm comm);
int COLL_Ibarrier(MPI_Comm comm, COLL_Request *request);
int COLL_Barrier_init(MPI_Comm comm, MPI_Info info, COLL_Request *request);

int COLL_Scan(const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type,
              MPI_Op op, MPI_Comm comm);
int COLL_Iscan(const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type,
               MPI_Op op, MPI_Comm comm, COLL_Request *request);
int COLL_Scan_init(const void *send_buffer, void *receive_buffer, MPI_Count count,
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                   COLL_Request *request);

int COLL_Exscan(const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type,
                MPI_Op op, MPI_Comm comm);
int COLL_Iexscan(const void *send_buffer, void *receive_buffer, MPI_Count count, MPI_Datatype type,
                 MPI_Op op, MPI_Comm comm, COLL_Request *request);
int COLL_Exscan_init(const void *send_buffer, void *receive_buffer, MPI_Count count,
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                     COLL_Request *request);

/*
 * Neighbourhood collectives, on a communicator with a Cartesian, graph or distributed graph
 * topology. Blocks are in the order that MPI specifies, lists of counts and displacements have an
 * element for each neighbour, and MPI_IN_PLACE is not allowed. On a graph, nonblocking calls go to
 * the MPI library until the first blocking or persistent call, in which all ranks learn the edges
 * of the graph. The edges of a Cartesian topology are known without that.
 */
int COLL_Neighbor_allgather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                            void *receive_buffer, MPI_Count receive_count,
                            MPI_Datatype receive_type, MPI_Comm comm);
int COLL_Ineighbor_allgather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                             void *receive_buffer, MPI_Count receive_count,
                             MPI_Datatype receive_type, MPI_Comm comm, COLL_Request *request);
int COLL_Neighbor_allgather_init(const void *send_buffer, MPI_Count send_count,
                                 MPI_Datatype send_type, void *receive_buffer,
                                 MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm comm,
                                 MPI_Info info, COLL_Request *request);

int COLL_Neighbor_allgatherv(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                             void *receive_buffer, const MPI_Count receive_counts[],
                             const MPI_Aint displacements[], MPI_Datatype receive_type,
                             MPI_Comm comm);
int COLL_Ineighbor_allgatherv(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                              void *receive_buffer, const MPI_Count receive_counts[],
                              const MPI_Aint displacements[], MPI_Datatype receive_type,
                              MPI_Comm comm, COLL_Request *request);
int COLL_Neighbor_allgatherv_init(const void *send_buffer, MPI_Count send_count,
                                  MPI_Datatype send_type, void *receive_buffer,
                                  const MPI_Count receive_counts[], const MPI_Aint displacements[],
                                  MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                  COLL_Request *request);

int COLL_Neighbor_alltoall(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                           void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                           MPI_Comm comm);
int COLL_Ineighbor_alltoall(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                            void *receive_buffer, MPI_Count receive_count,
                            MPI_Datatype receive_type, MPI_Comm comm, COLL_Request *request);
int COLL_Neighbor_alltoall_init(const void *send_buffer, MPI_Count send_count,
                                MPI_Datatype send_type, void *receive_buffer,
                                MPI_Count receive_count, MPI_Datatype receive_type, MPI_Comm comm,
                                MPI_Info info, COLL_Request *request);

int COLL_Neighbor_alltoallv(const void *send_buffer, const MPI_Count send_counts[],
                            const MPI_Aint send_displacements[], MPI_Datatype send_type,
                            void *receive_buffer, const MPI_Count receive_counts[],
                            const MPI_Aint receive_displacements[], MPI_Datatype receive_type,
                            MPI_Comm comm);
int COLL_Ineighbor_alltoallv(const void *send_buffer, const MPI_Count send_counts[],
                             const MPI_Aint send_displacements[], MPI_Datatype send_type,
                             void *receive_buffer, const MPI_Count receive_counts[],
                             const MPI_Aint receive_displacements[], MPI_Datatype receive_type,
                             MPI_Comm comm, COLL_Request *request);
int COLL_Neighbor_alltoallv_init(const void *send_buffer, const MPI_Count send_counts[],
                                 const MPI_Aint send_displacements[], MPI_Datatype send_type,
                                 void *receive_buffer, const MPI_Count receive_counts[],
                                 const MPI_Aint receive_displacements[], MPI_Datatype receive_type,
                                 MPI_Comm comm, MPI_Info info, COLL_Request *request);

/* Displacements are in bytes. */
int COLL_Neighbor_alltoallw(const void *send_buffer, const MPI_Count send_counts[],
                            const MPI_Aint send_displacements[], const MPI_Datatype send_types[],
                            void *receive_buffer, const MPI_Count receive_counts[],
                            const MPI_Aint receive_displacements[],
                            const MPI_Datatype receive_types[], MPI_Comm comm);
int COLL_Ineighbor_alltoallw(const void *send_buffer, const MPI_Count send_counts[],
                             const MPI_Aint send_displacements[], const MPI_Datatype send_types[],
                             void *receive_buffer, const MPI_Count receive_counts[],
                             const MPI_Aint receive_displacements[],
                             const MPI_Datatype receive_types[], MPI_Comm comm,
                             COLL_Request *request);
int COLL_Neighbor_alltoallw_init(const void *send_buffer, const MPI_Count send_counts[],
                                 const MPI_Aint send_displacements[],
                                 const MPI_Datatype send_types[], void *receive_buffer,
                                 const MPI_Count receive_counts[],
                                 const MPI_Aint receive_displacements[],
                                 const MPI_Datatype receive_types[], MPI_Comm comm, MPI_Info info,
                                 COLL_Request *request);

/*
 * Starts a persistent *REQUEST. Local. Returns MPI_ERR_REQUEST if *REQUEST is active already, is
 * not a persistent request, or its communicator has been freed. A reduction's MPI_Op must not be
 * freed before the request, since MPI has no way to keep an MPI_Op alive.
 */
int COLL_Start(COLL_Request *request);

/*
 * Waits until *REQUEST is complete, frees it and sets it to COLL_REQUEST_NULL; a persistent request
 * is kept and may be started again. Not collective. COLL_REQUEST_NULL and a persistent request that
 * is not active are complete at once. Errors: those of the operation; MPI_ERR_REQUEST for a request
 * that has already completed and been freed.
 */
int COLL_Wait(COLL_Request *request);

/* Does the same without waiting: *FLAG says whether *REQUEST was complete. */
int COLL_Test(COLL_Request *request, int *flag);

/*
 * Waits for COUNT requests, as COLL_Wait does. Waits for all of them even after an error, and
 * returns the first error.
 */
int COLL_Waitall(int count, COLL_Request requests[]);

/*
 * Frees a persistent *REQUEST and sets it to COLL_REQUEST_NULL. Local. Returns MPI_ERR_REQUEST if
 * *REQUEST is active or is not a persistent request.
 */
int COLL_Request_free(COLL_Request *request);

/*
 * A pool of key-value pairs: 64-bit keys, values of one fixed size, at most one value per key. A
 * value added under an existing key is combined with the existing value. Any number of threads may
 * add at the same time. Memory is proportional to the number of keys in the pool.
 */
typedef struct COLL_Pool COLL_Pool;

/*
 * Combines FROM into INTO, both VALUE_BYTES long and aligned to 8 bytes. The function must be
 * associative and commutative, and must not keep the pointers or touch the pool. Several threads
 * may call it at the same time, but never for the same key. CONTEXT is the argument of
 * COLL_Pool_create.
 */
typedef void COLL_Combine(void *into, const void *from, size_t value_bytes, void *context);

/*
 * Creates an empty pool. Not collective. The caller frees it with COLL_Pool_free. Errors:
 * MPI_ERR_ARG if COMBINE is NULL or VALUE_BYTES is 0, MPI_ERR_NO_MEM. *POOL is set only on success.
 */
int COLL_Pool_create(size_t value_bytes, COLL_Combine *combine, void *context, COLL_Pool **pool);

/* Frees *POOL and sets it to NULL. Not collective. *POOL may be NULL. */
void COLL_Pool_free(COLL_Pool **pool);

/*
 * Adds a copy of VALUE, which may have any alignment, under KEY, or combines it with the existing
 * value. Thread-safe, not collective. Errors: MPI_ERR_NO_MEM, which leaves the pool unchanged.
 */
int COLL_Pool_add(COLL_Pool *pool, uint64_t key, const void *value);

/* Returns the number of keys in POOL. Not collective. */
size_t COLL_Pool_size(const COLL_Pool *pool);

/*
 * Returns the value under KEY, or NULL. The pointer is valid until the pool is next changed. Not
 * collective.
 */
const void *COLL_Pool_find(const COLL_Pool *pool, uint64_t key);

/*
 * Calls VISIT for every pair in ascending order of keys until it returns non-zero. Returns the last
 * result of VISIT, 0 for an empty pool, or -1 if memory ran out. Not collective; the pool must not
 * be changed meanwhile.
 */
int COLL_Pool_visit(const COLL_Pool *pool,
                    int (*visit)(uint64_t key, const void *value, void *context), void *context);

/* Statistics of one COLL_Aggregate on this rank. Times in seconds, sizes in bytes. */
typedef struct COLL_Aggregate_stats {
    double local_seconds;    /* stage 1: combining among the processes of a node */
    double group_by_seconds; /* stage 2: regrouping by partition across nodes */
    double gather_seconds;   /* stage 3: gathering the partitions at the root */
    uint64_t bytes_sent;     /* keys and values that left this rank, over all stages */
    uint64_t peak_bytes;     /* the most memory that the pool and buffers held at once */
} COLL_Aggregate_stats;

/*
 * Combines the pools of all ranks into ROOT's: afterwards the pool at ROOT holds every key that any
 * rank held, once, and the other ranks' pools are empty. VALUE_BYTES and the combine function must
 * be the same on all ranks. The order of combination depends on the layout of the ranks over the
 * nodes, not on the order of arrival. STATS may be NULL. If a rank runs out of memory, all ranks
 * get MPI_ERR_NO_MEM; the pools are then still valid, but pairs may be missing. Source: Zhang,
 * Qiu, Lee and Crandall, section V and eq. 4.
 */
int COLL_Aggregate(COLL_Pool *pool, int root, MPI_Comm comm, COLL_Aggregate_stats *stats);

/* A collective in progress, started by DCP_IAllreduce or one of the functions below it. */
typedef struct DCP_Pending *DCP_Request;
#define DCP_REQUEST_NULL ((DCP_Request)0)

/*
 * MPI_Iallreduce on dedicated collective processors (DCPs): the call hands over the values, the
 * DCPs reduce them while the caller computes, and DCP_Wait fetches the result. If no DCP serves the
 * call (COLL_DCP is not set, a user-defined operation or a derived type, too much data, an
 * intercommunicator, a communicator from MPI_Comm_idup before its first MPI_Allreduce), the call is
 * MPI_Iallreduce itself, so that the same program runs anywhere. Floating-point sums are formed
 * along one tree over the ranks, so they have the same bits on every rank and in every run.
 *
 * SENDBUF may be MPI_IN_PLACE. Until the request is complete, RECVBUF must not be accessed and
 * SENDBUF must not be changed. Source: Sancho, Kerbyson and Barker, section IV.B.
 */
int DCP_IAllreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, DCP_Request *request);

/*
 * MPI_Ibcast, MPI_Ialltoall and MPI_Ireduce_scatter_block on DCPs, for small data. The first two
 * accept any type. A broadcast by DCPs is complete only when all ranks have called it. DCPs serve
 * an alltoall or a reduce_scatter up to a limit for all blocks of a rank together: 1K to 32K bytes,
 * as the cost model predicts, or 32 times COLL_DCP_LIMIT, but at most 32K. A block of a
 * reduce_scatter has the same bits as with DCP_IAllreduce. Buffers may be MPI_IN_PLACE as in MPI.
 */
int DCP_IBcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
               DCP_Request *request);
int DCP_IAlltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, DCP_Request *request);
int DCP_IReduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm, DCP_Request *request);

/*
 * Waits until *REQUEST is complete and sets it to DCP_REQUEST_NULL. Not collective.
 * DCP_REQUEST_NULL is complete at once. If ranks disagree about sizes, type, operation or root,
 * they get MPI_ERR_OTHER with a text that names the ranks and the difference. If COLL_TIMEOUT
 * expires, the error names the late ranks, and the call has ended.
 */
int DCP_Wait(DCP_Request *request);

/* Does the same without waiting: *FLAG says whether *REQUEST was complete. */
int DCP_Test(DCP_Request *request, int *flag);

#ifdef __cplusplus
}
#endif

/*
 * Up to 0.1 this file contained the declarations for tools. Include coll_tools.h yourself: this
 * line will be removed in 0.3.
 */
#include "coll_tools.h"

#endif
