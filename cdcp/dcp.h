/*
 * Dedicated collective processors (DCPs): some ranks of a job serve collectives of the others, the
 * application ranks, which post their values and fetch the result without taking part in
 * between. Source: paper "CDCP", section IV.
 *
 * A job's life: every rank calls coll_dcp_start after MPI_Init. A DCP then calls DCP_Serve, which
 * returns when its application ranks have called DCP_Stop (coll_tools.h); after an error of it some
 * of them may wait for ever, and MPI_Abort should end the job. Application ranks work on the
 * communicator that coll_dcp_start gave them and on those derived from it, and complete their
 * requests before DCP_Stop. All of them finalize MPI.
 *
 * Reductions follow one tree over the ranks of the communicator: the same bits on every rank, for
 * any order of arrival and any number of DCPs.
 *
 * Every function that returns an int returns MPI_SUCCESS or an MPI error code, whose text
 * MPI_Error_string gives; none of them calls an error handler (those of coll.h do). Functions are
 * local unless they say "collective". Where MPI_Init_thread gave MPI_THREAD_MULTIPLE they may be
 * called from several threads at once, as their MPI namesakes may.
 */
#ifndef COLL_CDCP_DCP_H
#define COLL_CDCP_DCP_H

#include "lib/base/substitute.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Makes DCPs of some ranks of WORLD, those and as many as SPEC says (COLL_DCP's syntax, see
 * cdcp/mapping.h; rank 0's word counts). Collective over WORLD; again only after the end. From now
 * on WORLD stands for *APP in libcoll's calls (lib/base/substitute.h): coll_dcp_comm. *APP becomes
 * the communicator of the application ranks, in the order of WORLD, on these; MPI_COMM_NULL on a
 * DCP. *APP belongs to the engine: DCP_Stop frees it. Errors, alike on all ranks: MPI_ERR_ARG
 * for a SPEC that is malformed or leaves no application rank and for bad settings, MPI_ERR_NO_MEM.
 */
int coll_dcp_start(const char *spec, MPI_Comm world, MPI_Comm *app);

/*
 * Makes COMM known to the engine, so that DCPs take its collectives: its members agree on a number
 * for it by one allreduce of 16 bytes. Collective over COMM, and waits for the others: the place
 * for it is where communicators are made, or in another call that may wait. DCPs don't serve
 * intercommunicators, communicators with ranks that aren't application ranks of this job, and those
 * of one rank. Does nothing for MPI_COMM_NULL, for COMM known before, and where no DCPs serve.
 */
int coll_dcp_register(MPI_Comm comm);

/* Whether there is nothing to register: the same on all ranks of COMM. */
bool coll_dcp_knows(MPI_Comm comm);

/*
 * A posted collective, or a persistent one; what a DCP_Request (coll.h) points to. Requests lie in
 * one range of addresses, so that a caller who hides them behind MPI_Request handles can tell them
 * from MPI's own: coll_dcp_owns.
 */
typedef struct DCP_Pending coll_dcp_request;

/* A request begins with so many ints for its holder's own use, which are kept when it is reused. */
enum { COLL_DCP_ROOM = 64 };

typedef struct coll_dcp_range {
    uintptr_t base, size; /* size 0 until the first request */
} coll_dcp_range;
extern coll_dcp_range coll_dcp_arena;

static inline bool coll_dcp_owns(const void *request) {
    return (uintptr_t)request - coll_dcp_arena.base < coll_dcp_arena.size;
}

/*
 * --- What DCPs serve ---
 *
 * Posts set *REQUEST to NULL, and that is no error, where DCPs don't take the call or its arguments
 * are one: then call the MPI library, which reports it. Whether DCPs take a call without such an
 * error is the same on all its ranks; on communicators that aren't registered they take none. Posts
 * read what the rank contributes before they return; the result is written by the wait or test that
 * completes the request. The posts on a communicator must come in the same order on all its ranks;
 * completion in any order. SENDBUF may be MPI_IN_PLACE.
 */

/*
 * An allreduce: a predefined operation on a predefined type that it is defined for, of no more
 * bytes than the limit.
 */
int coll_dcp_post(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, coll_dcp_request **request);

/*
 * The same as a persistent request, inactive until coll_dcp_begin reads its SENDBUF and posts it.
 * Waiting and testing leave it inactive; coll_dcp_release ends it.
 */
int coll_dcp_prepare(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm comm, coll_dcp_request **request);
int coll_dcp_begin(coll_dcp_request *request);

/* A broadcast: of no more bytes than the limit, of any type. */
int coll_dcp_post_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                        coll_dcp_request **request);

/* An alltoall: of any types, all blocks of a rank together of no more bytes than a limit. */
int coll_dcp_post_alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           coll_dcp_request **request);

/*
 * A reduce_scatter of blocks of COUNT elements each, all blocks of a rank together of no more bytes
 * than a limit: by an operation on a type as in an allreduce.
 */
int coll_dcp_post_reduce_scatter(const void *sendbuf, void *recvbuf, MPI_Count count,
                                 MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                 coll_dcp_request **request);

/* Whether DCPs take one with these arguments. */
bool coll_dcp_takes_reduce_scatter(MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* --- Requests --- */

/* Ends an inactive persistent request and sets *REQUEST to NULL. */
void coll_dcp_release(coll_dcp_request **request);

/* Whether REQUEST is active (posted and not completed by the caller). */
bool coll_dcp_active(const coll_dcp_request *request);

/*
 * The communicator that it was posted on, on whose handler the caller raises its errors; the
 * application's world where that one has been freed since.
 */
MPI_Comm coll_dcp_request_comm(const coll_dcp_request *request);

/*
 * Whether the result (or error) of REQUEST is there; true of an inactive one. Completes nothing:
 * what MPI_Request_get_status needs. Lets MPI make progress where it is not.
 */
bool coll_dcp_ready(coll_dcp_request *request);

/*
 * Completes *REQUEST: RECVBUF holds the result afterwards, or the error comes back. A request that
 * isn't persistent is gone and *REQUEST is NULL; a persistent one is inactive. An inactive one
 * completes at once. Waiting is polite, and lets MPI make progress. Where an error comes back *COMM
 * is what coll_dcp_request_comm said.
 */
int coll_dcp_wait(coll_dcp_request **request, MPI_Comm *comm);

#endif
