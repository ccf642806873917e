/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our requests behind MPI_Request handles: those of dedicated processors (coll_dcp_request) and of
 * libcoll's nonblocking and persistent collectives (coll_nonblocking). Their addresses distinguish
 * them from the MPI library's requests. If a handle is an int, as in MPICH and in Fortran, the
 * handle is the request's distance in bytes from the first request, plus COLL_REQUESTS_DCP or
 * COLL_REQUESTS_LIBCOLL; the leading bits of MPICH's own handles are different.
 */
#ifndef COLL_CDCP_PMPI_REQUESTS_H
#define COLL_CDCP_PMPI_REQUESTS_H

#include "cdcp/dcp.h"
#include "cdcp/pmpi/nonblocking.h"
#include "lib/base/wait.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { COLL_REQUESTS_DCP = 0x30000000, COLL_REQUESTS_LIBCOLL = 0x38000000 };

/* Returns the integer for the request at ADDRESS, which must be ours. */
static inline MPI_Fint coll_requests_number(const void *address) {
    const uintptr_t at = (uintptr_t)address;
    return coll_nonblocking_owns(address)
               ? COLL_REQUESTS_LIBCOLL + (MPI_Fint)(at - coll_nonblocking_arena.base)
               : COLL_REQUESTS_DCP + (MPI_Fint)(at - coll_dcp_arena.base);
}

/* Returns the address of our request with the integer NUMBER; NULL if there is none. */
static inline void *coll_requests_numbered(MPI_Fint number) {
    const bool is_served = number < COLL_REQUESTS_LIBCOLL;
    const coll_dcp_range *arena = is_served ? &coll_dcp_arena : &coll_nonblocking_arena;
    const MPI_Fint first = is_served ? COLL_REQUESTS_DCP : COLL_REQUESTS_LIBCOLL;
    if (number < first || (uintptr_t)(number - first) >= arena->size)
        return NULL;
    return (void *)(arena->base + (uintptr_t)(number - first));
}

static inline MPI_Request coll_requests_handle(void *address) {
#ifdef MPICH
    return coll_requests_number(address);
#else
    return (MPI_Request)address;
#endif
}

/* Returns the address of the request behind REQUEST, if it is ours. */
static inline void *coll_requests_address(MPI_Request request) {
#ifdef MPICH
    return coll_requests_numbered(request);
#else
    return request;
#endif
}

static inline bool coll_requests_own(MPI_Request request) {
    const void *address = coll_requests_address(request);
    return coll_dcp_owns(address) || coll_nonblocking_owns(address);
}

/*
 * Returns whether REQUEST is not NULL, and *REQUEST is ours. The MPI library reports null pointers.
 */
static inline bool coll_requests_own_at(const MPI_Request *request) {
    return request && coll_requests_own(*request);
}

/* Returns whether REQUEST, which must be ours, was started and not completed by the program. */
bool coll_requests_active(MPI_Request request);

/*
 * Returns whether REQUEST, which must be ours, can be completed without waiting, or is inactive.
 * Lets the MPI library make progress if REQUEST is at a dedicated processor; libcoll's requests
 * need coll_requests_advance.
 */
bool coll_requests_ready(MPI_Request request);

/*
 * Waits for *REQUEST, which must be ours, and sets STATUS except for its error. Sets *REQUEST to
 * MPI_REQUEST_NULL unless the request is persistent. Returns the operation's error, for *COMM's
 * error handler, which is not called.
 */
int coll_requests_complete(MPI_Request *request, MPI_Status *status, MPI_Comm *comm);

/*
 * Progresses libcoll's nonblocking collectives. The MPI library doesn't know them, so each MPI
 * function that waits or tests for the program calls this function.
 */
static inline void coll_requests_advance(void) {
    if (coll_request_any_under_way())
        (void)coll_request_advance(NULL);
}

/*
 * A wait that advances these collectives between its tests: call coll_requests_begin first, and
 * coll_requests_pause after each test that fails.
 */
typedef struct coll_requests_wait {
    coll_wait wait;
    coll_backoff backoff;
} coll_requests_wait;

static inline void coll_requests_begin(coll_requests_wait *wait) {
    coll_wait_init(&wait->wait, false, COLL_WAIT_AUTO, 0);
    wait->backoff = coll_backoff_begin(&wait->wait);
}

static inline void coll_requests_pause(coll_requests_wait *wait) {
    coll_requests_advance();
    coll_backoff_relax(&wait->backoff);
}

/* Does PMPI_Wait for a request of the MPI library, and progresses libcoll's collectives meanwhile.
 */
int coll_requests_wait_for(MPI_Request *request, MPI_Status *status);

#endif
