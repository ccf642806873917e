/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's nonblocking and persistent collectives that libcoll runs. Each has a record, to
 * which the program's MPI_Request refers (cdcp/pmpi/requests.h). The record owns what the program
 * may free while the collective is under way. The collectives progress in the calls of
 * cdcp/pmpi/requests.c, request_arrays.c and messages.c, and in libcoll's own.
 */
#ifndef COLL_CDCP_PMPI_NONBLOCKING_H
#define COLL_CDCP_PMPI_NONBLOCKING_H

#include "cdcp/dcp.h"
#include "lib/algorithm/operations.h"
#include "lib/call/request.h"

#include <mpi.h>
#include <stdbool.h>

typedef struct coll_nonblocking {
    int room[COLL_DCP_ROOM]; /* as a coll_dcp_request has, for Fortran's handles */
    coll_request *request;   /* NULL in unused records */
    MPI_Count *counts[2];    /* converted counts and displacements; NULL if there are none */
    MPI_Datatype *types;     /* duplicates of the call's derived types; NULL if there are none */
    int type_count;
    MPI_Op op;                     /* MPI_OP_NULL if the call does not reduce */
    MPI_Datatype operand;          /* the derived type that OP gets, else MPI_DATATYPE_NULL */
    bool op_freed, operand_freed;  /* the program has freed OP, OPERAND */
    struct coll_nonblocking *next; /* in the list of unused records */
} coll_nonblocking;

/* All records are in this range of addresses. */
extern coll_dcp_range coll_nonblocking_arena;

static inline bool coll_nonblocking_owns(const void *record) {
    return (uintptr_t)record - coll_nonblocking_arena.base < coll_nonblocking_arena.size;
}

/*
 * Returns whether libcoll runs nonblocking calls of OPERATION on COMM: the user asks for it, COMM
 * is set up, and libcoll would not leave all of them to the MPI library. The same on all ranks.
 * Local.
 */
bool coll_nonblocking_takes(coll_operation operation, MPI_Comm comm);

/*
 * Returns the same for persistent calls. COMM need not be set up before: the creation of a
 * persistent request sets it up.
 */
bool coll_nonblocking_prepares(coll_operation operation, MPI_Comm comm);

/*
 * Creates a record for a call that reduces with OP; MPI_OP_NULL if the call doesn't reduce. Sets
 * *MADE to NULL on errors.
 */
int coll_nonblocking_create(MPI_Op op, coll_nonblocking **made);

/*
 * Lets the program free *TYPE, unless the type is predefined. Replaces it by a duplicate that
 * RECORD owns; but if the call reduces, keeps it, because the operation gets the call's own type.
 */
int coll_nonblocking_keep_type(coll_nonblocking *record, MPI_Datatype *type);

/* Frees RECORD, whose request is freed or was never created. */
void coll_nonblocking_free(coll_nonblocking *record);

/*
 * Completes RECORD's active request, and frees the request and RECORD unless the request is
 * persistent. Returns the operation's error; *COMM is the communicator whose error handler gets it.
 */
int coll_nonblocking_complete(coll_nonblocking *record, MPI_Comm *comm);

/* Returns the communicator whose error handler gets RECORD's errors. */
MPI_Comm coll_nonblocking_comm(const coll_nonblocking *record);

#endif
