/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dedicated collective processors (DCPs): some ranks of a job serve collectives of the other ranks,
 * the application ranks. These post their values and fetch the result, without taking part in
 * between. Source: Sancho, Kerbyson and Barker, section IV.
 *
 * Every rank calls coll_dcp_start after MPI_Init. A DCP then calls DCP_Serve, which returns when
 * all application ranks have called DCP_Stop (coll_tools.h). If DCP_Serve fails, some application
 * ranks may wait for ever, and MPI_Abort should end the job. Application ranks use the communicator
 * that coll_dcp_start gave them and communicators derived from it, and complete their requests
 * before DCP_Stop. All ranks finalize MPI.
 *
 * Reductions follow one tree over the ranks of the communicator. So every rank gets the same bits,
 * for any order of arrival and any number of DCPs.
 *
 * Every function that returns an int returns MPI_SUCCESS or an MPI error code, whose text
 * MPI_Error_string gives; none of them calls an error handler (the functions of coll.h do).
 * Functions other than coll_dcp_wait are local unless they say "collective". With
 * MPI_THREAD_MULTIPLE, several threads may call them at once, under the same conditions as the
 * corresponding MPI functions.
 */
#ifndef COLL_CDCP_DCP_H
#define COLL_CDCP_DCP_H

#include "lib/base/dcp_hooks.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Makes DCPs of the ranks of WORLD that SPEC selects (COLL_DCP's syntax, see cdcp/mapping.h; rank
 * 0's SPEC holds for all). Collective over WORLD; to be called again only after DCP_Stop or
 * DCP_Serve. From now on, libcoll's calls on application ranks use *APP instead of WORLD
 * (coll_dcp_comm in lib/base/dcp_hooks.h). On application ranks, *APP is the communicator of the
 * application ranks, in the order of WORLD; on DCPs it is MPI_COMM_NULL. libcoll owns *APP, and
 * DCP_Stop frees it. These errors are the same on all ranks: MPI_ERR_ARG for invalid settings and
 * for a SPEC that is malformed or leaves no application rank, and MPI_ERR_OTHER if
 * COLL_DCP_TRANSPORT is shared and a node has no shared memory. Other errors may occur on some
 * ranks only.
 */
int coll_dcp_start(const char *spec, MPI_Comm world, MPI_Comm *app);

/*
 * Registers COMM, so that DCPs take its collectives: its members agree on a number for it with one
 * allreduce of 16 bytes. Collective over COMM, and waits for the other ranks; call it when a
 * communicator is created, or in another call that may wait. DCPs don't serve intercommunicators,
 * communicators with ranks that aren't application ranks of this job, and communicators of one
 * rank. Does nothing for MPI_COMM_NULL, for a COMM that is registered already, and if there are no
 * DCPs.
 */
int coll_dcp_register(MPI_Comm comm);

/*
 * Returns whether coll_dcp_register has nothing to do for COMM, which is not MPI_COMM_NULL: COMM
 * has been registered or refused already, or there are no DCPs. The same on all ranks of COMM.
 */
bool coll_dcp_knows(MPI_Comm comm);

/*
 * A posted or persistent collective, to which a DCP_Request (coll.h) points. All requests are in
 * one range of addresses, so that coll_dcp_owns can distinguish them from the MPI library's
 * requests if a caller puts both behind MPI_Request handles.
 */
typedef struct DCP_Pending coll_dcp_request;

/*
 * A request begins with this number of ints for its holder's own use. They keep their values when
 * the request is reused.
 */
enum { COLL_DCP_ROOM = 64 };

typedef struct coll_dcp_range {
    uintptr_t base, size; /* size 0 until the addresses are reserved */
} coll_dcp_range;
extern coll_dcp_range coll_dcp_arena;

static inline bool coll_dcp_owns(const void *request) {
    return (uintptr_t)request - coll_dcp_arena.base < coll_dcp_arena.size;
}

/*
 * --- The collectives that DCPs serve ---
 *
 * If DCPs don't take a call, or its arguments are erroneous, a post sets *REQUEST to NULL and
 * returns MPI_SUCCESS. The caller then calls the MPI library, which reports any error. The post
 * itself returns an error if a datatype is not committed, memory is short, or MPI fails. Whether
 * DCPs take a call with correct arguments is the same on all its ranks; they take none on
 * communicators that aren't registered. A posting function reads the rank's contribution before it
 * returns. The wait or test that completes the request writes the result. The posts on a
 * communicator, except those of persistent requests, must come in the same order on all its ranks;
 * completion may come in any order. SENDBUF may be MPI_IN_PLACE.
 */

/*
 * Posts an allreduce: a predefined operation on a predefined type for which it is defined, of at
 * most coll_the_job.limit bytes (cdcp/job.h).
 */
int coll_dcp_post(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, coll_dcp_request **request);

/*
 * Makes a persistent request for the same call; collective. If a rank has no memory for it, DCPs
 * don't take the call. coll_dcp_begin reads SENDBUF and posts the request: the ranks may begin
 * several requests in different orders, also after COMM is freed. When a wait or test has completed
 * the request, it is inactive again. coll_dcp_release ends it.
 */
int coll_dcp_prepare(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm comm, coll_dcp_request **request);
int coll_dcp_begin(coll_dcp_request *request);

/* Posts a broadcast of any type, of at most coll_the_job.limit bytes. */
int coll_dcp_post_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                        coll_dcp_request **request);

/*
 * Posts an alltoall of any types. All blocks of a rank together have at most coll_the_job.blocks
 * bytes.
 */
int coll_dcp_post_alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           coll_dcp_request **request);

/*
 * Posts a reduce_scatter of blocks of COUNT elements each, with an operation and a type as in an
 * allreduce. All blocks of a rank together have at most coll_the_job.blocks bytes.
 */
int coll_dcp_post_reduce_scatter(const void *sendbuf, void *recvbuf, MPI_Count count,
                                 MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                 coll_dcp_request **request);

/* Returns whether DCPs take a reduce_scatter with these arguments, if its buffers are correct. */
bool coll_dcp_takes_reduce_scatter(MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* --- Requests --- */

/* Ends an inactive persistent request and sets *REQUEST to NULL. Returns MPI's errors. */
int coll_dcp_release(coll_dcp_request **request);

/* Returns whether REQUEST is active: posted, and not completed by the caller. */
bool coll_dcp_active(const coll_dcp_request *request);

/*
 * Returns the communicator of the request, on whose error handler the caller raises the request's
 * errors. If the program has freed it, returns the application's world.
 */
MPI_Comm coll_dcp_request_comm(const coll_dcp_request *request);

/*
 * Returns whether the result or error of REQUEST has arrived; true for an inactive request.
 * Completes nothing, as MPI_Request_get_status requires. If nothing has arrived, lets MPI make
 * progress; coll_dcp_wait returns MPI's errors.
 */
bool coll_dcp_ready(coll_dcp_request *request);

/*
 * Completes *REQUEST: writes the result to its RECVBUF, or returns its error. Sets *REQUEST to
 * NULL, or makes it inactive if it is persistent. Returns at once for an inactive request. While it
 * waits, it lets MPI make progress and yields the processor. If MPI fails in a message of the call,
 * *REQUEST ends with this error; if it fails otherwise meanwhile, *REQUEST stays active. On an
 * error, *COMM is what coll_dcp_request_comm would have returned.
 */
int coll_dcp_wait(coll_dcp_request **request, MPI_Comm *comm);

#endif
