/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of libcoll for ompi and cdcp/pmpi, which run the collectives of an MPI library
 * through libcoll, and for fortran. This header is not installed, since these three rooms belong to
 * the same build. libcoll.so exports the functions only for these rooms.
 */
#ifndef COLL_COMPONENT_H
#define COLL_COMPONENT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct COLL_Pending; /* the object behind a COLL_Request of coll.h */

/*
 * Point-to-point messages that no receive of the program can match, although they use the program's
 * own communicators. ISEND and IRECV are like MPI_Isend and MPI_Irecv; TAG is from 0 to 32767, and
 * PEER may be MPI_ANY_SOURCE.
 */
typedef struct COLL_Transport {
    int (*isend)(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request *request);
    int (*irecv)(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request *request);
    /*
     * Sets WORLD_RANKS to the ranks in MPI_COMM_WORLD of all ranks of COMM; returns 0 if one of
     * them belongs to another MPI_COMM_WORLD. Local.
     */
    int (*world_ranks)(MPI_Comm comm, int world_ranks[]);
} COLL_Transport;

/*
 * Gives all processes of MPI_COMM_WORLD the data that libcoll needs about each process, and makes
 * rank 0's settings valid for all. From then on each rank sets up every communicator of these
 * processes by itself, at the first call of any kind, without messages and without a duplicate of
 * the communicator. libcoll's messages on these communicators use TRANSPORT, which must exist until
 * MPI_Finalize. Collective over MPI_COMM_WORLD; call it once, when no communication is in progress,
 * such as at the end of MPI_Init. Returns the same error on all ranks: MPI_ERR_ARG (settings),
 * MPI_ERR_FILE (a topology or a profile), MPI_ERR_NO_MEM, or MPI's own; the call then has no
 * effect.
 */
int COLL_Setup_job(const COLL_Transport *transport);

/*
 * Returns the class of the error that this process's environment would cause on first use of any
 * communicator, and writes its text, cut to SIZE bytes, to TEXT; or returns MPI_SUCCESS. Does not
 * read the files that settings name. Local, valid before MPI_Init.
 */
int COLL_Check_settings(char text[], size_t size);

/*
 * Sets *NATIVE to whether every call of OPERATION on COMM would run the MPI library's own
 * collective, and wait in the same way as the MPI library, so that libcoll need not be called at
 * all. *NATIVE is the same on all ranks. Local after COLL_Setup_job; otherwise collective on a
 * communicator's first use.
 */
int COLL_Always_native(const char *operation, MPI_Comm comm, int *native);

/*
 * Sets *IN to the number of neighbours from which this rank receives on COMM, and *OUT to the
 * number of neighbours to which it sends. Local. Errors: MPI_ERR_TOPOLOGY.
 */
int COLL_Degrees(MPI_Comm comm, int *in, int *out);

/*
 * Returns the address of the number of COLL_Set calls in this process, which is updated by each
 * call. After a change the result of COLL_Always_native may differ. Local.
 */
const unsigned *COLL_Sets(void);

/*
 * Returns the COLL_TIMEOUT, in seconds, that applies to calls on COMM: rank 0's, or this process's
 * until COMM has been set up; 0 if there is none. Local.
 */
double COLL_Timeout(MPI_Comm comm);

/*
 * Returns an error (MPI_ERR_OTHER) whose text says that NAME, an MPI function that the MPI library
 * runs itself, did not complete in SECONDS. Local.
 */
int COLL_Timed_out(const char *name, double seconds);

/*
 * Sets whether this thread's calls only return their errors, since the caller is an MPI function
 * that invokes the error handler itself. Initially the calls also invoke the error handler. Returns
 * the previous setting. Local.
 */
int COLL_Return_errors(int returned);

/*
 * Advances all operations in progress, and fails those that COLL_TIMEOUT has expired for. To be
 * called repeatedly while the MPI library waits. Returns 0, without doing anything, if this or
 * another thread is advancing already; the caller must not complete requests then. Local, never
 * waits.
 *
 * IS_COMPLETE returns whether an active request of the MPI library is complete. Where it returns
 * false for all requests of an operation, MPI_Testsome is not called: it would make progress again,
 * in the middle of the MPI library's own progress.
 */
int COLL_Advance(int (*is_complete)(MPI_Request request));

/*
 * Returns whether COLL_Wait for the active REQUEST would return without waiting. Does not advance
 * it. Local.
 */
int COLL_Is_complete(struct COLL_Pending *request);

/*
 * Starts to record the calls of this process: for the report that MPI_Finalize writes (COLL_REPORT)
 * if REPORT is not 0, and in the directory RECORD (COLL_RECORD) if RECORD is not NULL. If REPORT is
 * 0 and RECORD is NULL, calls are no longer timed. All processes of MPI_COMM_WORLD must call it, at
 * the end of MPI_Init. Local. Returns MPI's errors, and MPI_ERR_FILE.
 */
int COLL_Report_start(int report, const char *record);

/* Sets the reason, a static text, that the report gives if libcoll runs no call at all. Local. */
void COLL_Report_aside(const char *why);

/*
 * A rank's data or block: COUNT elements of TYPE; the call's root, or -1 if it has none; and
 * whether the call has a count for each rank.
 */
typedef struct COLL_Report_amount {
    MPI_Count count;
    MPI_Datatype type;
    int root, uneven;
} COLL_Report_amount;

/*
 * Records a call that the MPI library runs without libcoll. COLL_Report_begin returns 0 if the call
 * is not recorded. Otherwise COLL_Report_end must follow, with the value that COLL_Report_begin
 * returned, the call's CODE and this rank's AMOUNT. OPERATION is the number that
 * COLL_Report_operation returns for a name; STARTED says that the call is nonblocking. Local.
 */
uint64_t COLL_Report_begin(void);
void COLL_Report_end(uint64_t began, int code, int operation, int started,
                     const COLL_Report_amount *amount, MPI_Comm comm);
int COLL_Report_operation(const char *name);

#ifdef __cplusplus
}
#endif
#endif
