/*
 * libcoll: MPI collectives for commodity Ethernet, wide-area sites and high rank counts.
 *
 * Every function is collective over its communicator unless it says otherwise, takes the arguments
 * of its MPI namesake, and returns MPI_SUCCESS or an MPI error code. Errors go through the
 * communicator's error handler, as MPI's own do; MPI_Error_string gives their text. Buffers are in
 * the host's memory, not in a GPU's.
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

/* The library's version as text, "0.1.0". Not collective; valid before MPI_Init. */
const char *COLL_Version(void);

/*
 * Chooses the algorithm of OPERATION ("bcast", "allreduce", ...: as COLL_Operation_name has them)
 * on COMM, over what the environment says. SPEC is "auto", an algorithm's name, or a name with
 * parameters: "chain:segment=32K,window=16". Local, but every rank of COMM must make the same call
 * at the same place among its collectives. Errors: MPI_ERR_ARG when the operation, the name, a
 * parameter or its value is unknown or out of bounds; the text names what is allowed.
 */
int COLL_Set(MPI_Comm comm, const char *operation, const char *spec);

/*
 * MPI_Bcast. COUNT may exceed INT_MAX. Ranks may describe the data by different datatypes as long
 * as their sizes in bytes agree. BUFFER is read at ROOT and written elsewhere.
 */
int COLL_Bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);

/*
 * MPI_Gather. Counts may exceed INT_MAX, and so may what the root gets in all. Ranks may describe
 * their data by different datatypes as long as the sizes in bytes agree. SEND_BUFFER may be
 * MPI_IN_PLACE at ROOT, whose block is then there already. The receive arguments count at ROOT
 * alone.
 */
int COLL_Gather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, int root,
                MPI_Comm comm);

/*
 * MPI_Gatherv: RECEIVE_COUNTS[i] elements of rank i go to DISPLACEMENTS[i], counted in extents of
 * RECEIVE_TYPE. The rest is as in COLL_Gather.
 */
int COLL_Gatherv(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                 void *receive_buffer, const MPI_Count receive_counts[],
                 const MPI_Aint displacements[], MPI_Datatype receive_type, int root,
                 MPI_Comm comm);

/*
 * An operation that goes on while the program computes, or that can be started again and again.
 * Ranks start operations of one communicator in the same order; any number may be under way, also
 * beside blocking ones. Arguments, counts and displacements included, must stay as they are until
 * the request is complete.
 *
 * A request moves on in every call of libcoll that waits or tests, whatever it waits for; with
 * COLL_PROGRESS=thread also in a thread of the library, in programs that ask for
 * MPI_THREAD_MULTIPLE. A start never waits for other ranks: on a communicator that has not seen a
 * blocking COLL_ call or a COLL_..._init yet, a nonblocking operation is the MPI library's own.
 */
typedef struct COLL_Pending *COLL_Request;
#define COLL_REQUEST_NULL ((COLL_Request)0)

/*
 * MPI_Ibcast, MPI_Igather and MPI_Igatherv: the same as COLL_Bcast, COLL_Gather and COLL_Gatherv,
 * but *REQUEST is complete once COLL_Wait or COLL_Test says so, which frees it. Errors in what is
 * under way are theirs.
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
 * MPI_Bcast_init, MPI_Gather_init and MPI_Gatherv_init: *REQUEST can be started by COLL_Start,
 * after each completion again, until COLL_Request_free. Collective, and may wait for all ranks, who
 * then have the memory that the operation needs or get the same error. INFO may be MPI_INFO_NULL;
 * no key means anything yet. At most 1024 on a communicator at a time.
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
 * What follows is MPI_Allreduce, MPI_Alltoall and their like: the same as MPI's, by counts that may
 * exceed INT_MAX; as blocking, nonblocking and persistent operations. MPI_IN_PLACE may stand where
 * MPI allows it. An MPI_Op and a datatype must not be freed before the request that they are part
 * of is complete.
 *
 * A reduction by one algorithm with the same parameters, over ranks that are placed in the same
 * way, gives the same bits on every rank and in every run; with COLL_REPRODUCIBLE=1 whatever runs
 * by libcoll gives the bits that follow from the number of ranks alone. One by an operation that
 * doesn't commute combines in the order of the ranks.
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
 * Starts a persistent *REQUEST; local. MPI_ERR_REQUEST where it is active already, or none.
 * A reduction's MPI_Op must not be freed before the request: MPI gives no way to keep it.
 */
int COLL_Start(COLL_Request *request);

/*
 * Waits until *REQUEST is complete, frees it and sets it to COLL_REQUEST_NULL; a persistent one
 * stays and may be started again. Not collective. COLL_REQUEST_NULL and a persistent request that
 * was not started are complete at once. Errors: those of the operation; MPI_ERR_REQUEST for a
 * request that is complete and freed already.
 */
int COLL_Wait(COLL_Request *request);

/* The same without waiting: *FLAG says whether *REQUEST was complete. */
int COLL_Test(COLL_Request *request, int *flag);

/* COLL_Wait for COUNT of them, in any order; all are waited for, and the first error is returned.
 */
int COLL_Waitall(int count, COLL_Request requests[]);

/*
 * Frees a persistent *REQUEST and sets it to COLL_REQUEST_NULL. Local. MPI_ERR_REQUEST while it is
 * active, and for what is no request.
 */
int COLL_Request_free(COLL_Request *request);

/*
 * A pool of key-value pairs: 64-bit keys, values of one fixed size, at most one value a key. A
 * value added under a key that is there is combined with the one that is there. Adding is safe from
 * any number of threads at once; memory follows the keys that the pool holds.
 */
typedef struct COLL_Pool COLL_Pool;

/*
 * Combines FROM into INTO, both VALUE_BYTES long and aligned to 8 bytes. Must be associative and
 * commutative, must not keep the pointers or touch the pool, and may be called from several threads
 * at once (never twice at once for one key). CONTEXT is what COLL_Pool_create was given.
 */
typedef void COLL_Combine(void *into, const void *from, size_t value_bytes, void *context);

/*
 * Makes an empty pool; not collective. The caller frees it with COLL_Pool_free. Errors: MPI_ERR_ARG
 * for no combine function or VALUE_BYTES of 0, MPI_ERR_NO_MEM. *POOL is set only on success.
 */
int COLL_Pool_create(size_t value_bytes, COLL_Combine *combine, void *context, COLL_Pool **pool);

/* Frees *POOL and sets it to NULL. Not collective; NULL inside is fine. */
void COLL_Pool_free(COLL_Pool **pool);

/*
 * Adds VALUE (copied, of any alignment) under KEY, combining it with what is there. Thread-safe,
 * not collective. Errors: MPI_ERR_NO_MEM, which leaves the pool as it was.
 */
int COLL_Pool_add(COLL_Pool *pool, uint64_t key, const void *value);

/* The number of keys in POOL. Not collective. */
size_t COLL_Pool_size(const COLL_Pool *pool);

/* The value under KEY, or NULL. It stays valid until the pool is next changed. Not collective. */
const void *COLL_Pool_find(const COLL_Pool *pool, uint64_t key);

/*
 * Calls VISIT for every pair in ascending order of keys until it returns non-zero, and returns
 * what VISIT returned last (0 for an empty pool), or -1 where memory ran out. Not collective; the
 * pool must not be changed meanwhile.
 */
int COLL_Pool_visit(const COLL_Pool *pool,
                    int (*visit)(uint64_t key, const void *value, void *context), void *context);

/* What one COLL_Aggregate did on this rank. Times in seconds, sizes in bytes. */
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
 * be the same everywhere. The order of combination is fixed by the layout of the ranks over the
 * nodes, never by the order of arrival. STATS may be NULL. Where a rank runs out of memory all
 * ranks get MPI_ERR_NO_MEM; the pools then stay valid, but pairs may be missing. Source: papers
 * Zhang, Qiu et al., 3-stage aggregation (eq. 4).
 */
int COLL_Aggregate(COLL_Pool *pool, int root, MPI_Comm comm, COLL_Aggregate_stats *stats);

/* A collective under way, made by DCP_IAllreduce or one of those below it. */
typedef struct DCP_Pending *DCP_Request;
#define DCP_REQUEST_NULL ((DCP_Request)0)

/*
 * MPI_Iallreduce on dedicated collective processors (DCPs): the call hands the values over, the
 * DCPs reduce them while the caller computes, DCP_Wait fetches the result. Where no DCP serves
 * (COLL_DCP is not set, a user's operation or a derived type, much data, an intercommunicator, a
 * communicator from MPI_Comm_idup before its first MPI_Allreduce) it is MPI_Iallreduce itself, so
 * that the same program runs anywhere. Sums of floating-point numbers are formed along one tree
 * over the ranks: the same bits on every rank and in every run.
 *
 * SENDBUF may be MPI_IN_PLACE. RECVBUF must not be touched before the request completes, SENDBUF
 * not be changed. Source: paper "CDCP", section IV.B.
 */
int DCP_IAllreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, DCP_Request *request);

/*
 * The same of other collectives of small data: DCPs do what MPI_Ibcast, MPI_Ialltoall and
 * MPI_Ireduce_scatter_block do. The first two take any type. A broadcast by DCPs is complete when
 * all ranks have called it. Where all blocks that a rank has are no more than 1K to 32K bytes,
 * as the cost model or COLL_DCP_LIMIT says, DCPs take an alltoall or a reduce_scatter; a block of
 * its result has the bits of DCP_IAllreduce. Buffers may be MPI_IN_PLACE as with MPI.
 */
int DCP_IBcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
               DCP_Request *request);
int DCP_IAlltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, DCP_Request *request);
int DCP_IReduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm, DCP_Request *request);

/*
 * Waits until *REQUEST is complete and sets it to DCP_REQUEST_NULL. Not collective. A
 * DCP_REQUEST_NULL is complete at once. Ranks whose sizes, type, operation or root don't match get
 * MPI_ERR_OTHER with a text that says who and how; with COLL_TIMEOUT, late ranks are named, and
 * *REQUEST stays, since it may yet be written to.
 */
int DCP_Wait(DCP_Request *request);

/* The same without waiting: *FLAG says whether *REQUEST was complete. */
int DCP_Test(DCP_Request *request, int *flag);

#ifdef __cplusplus
}
#endif

/* What tools use was declared here up to 0.1: include it yourself, this line goes with 0.3. */
#include "coll_tools.h"

#endif
