/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C side of Fortran's coll_f08. Each subroutine of the module is a C function (calls.c.in) that
 * converts Fortran's arguments: buffers come as descriptors, all other arguments by reference, and
 * an omitted IERROR is NULL.
 */
#ifndef COLL_FORTRAN_F08_H
#define COLL_FORTRAN_F08_H

#include "coll.h"

#include <ISO_Fortran_binding.h>
#include <mpi.h>

/* Same layout as type(COLL_Request) and type(DCP_Request). */
typedef struct coll_f08_request {
    union {
        COLL_Request coll;
        DCP_Request dcp;
    };
    void *kept; /* lists of numbers that the operation may read until the request is freed */
} coll_f08_request;

/*
 * A call in progress. Its lists, of counts, displacements or datatypes by rank or by neighbour, are
 * converted to C. SENDS and RECEIVES are the lengths of the lists for sending and for receiving.
 */
typedef struct coll_f08_call {
    char *memory, *next;
    int sends, receives;
} coll_f08_call;

/*
 * Passed instead of a root if the lists are significant on every rank. ALL: they have an element
 * for each rank, on an intercommunicator for each rank of the remote group. OWN: as ALL, but on an
 * intercommunicator for each rank of the local group. NEIGHBORS: for each of the rank's neighbours.
 */
enum { COLL_F08_ALL = -99, COLL_F08_OWN, COLL_F08_NEIGHBORS };

/*
 * Checks the buffers of a call of the operation NAME, and allocates LISTS lists. If the operation
 * has a root, the lists are empty on all ranks except the root, since they aren't significant
 * there. FIRST and SECOND may be NULL. Returns an error after raising it on COMM: MPI_ERR_BUFFER
 * for an array section with gaps, MPI_ERR_NO_MEM. Call coll_f08_close also after an error.
 */
int coll_f08_open(coll_f08_call *call, const char *name, const CFI_cdesc_t *first,
                  const CFI_cdesc_t *second, MPI_Fint comm, MPI_Fint root, int lists);

/*
 * Sets IERROR to CODE. Moves the call's lists to REQUEST; frees them if REQUEST is NULL or CODE is
 * an error.
 */
void coll_f08_close(coll_f08_call *call, coll_f08_request *request, int code, MPI_Fint *ierror);

/* Returns a buffer's address in C, also for MPI_IN_PLACE and MPI_BOTTOM. */
void *coll_f08_address(const CFI_cdesc_t *buffer);

/* Convert a list of LENGTH elements to C, store it as CALL's next list, and return that list. */
const MPI_Count *coll_f08_counts_int(coll_f08_call *call, int length, const MPI_Fint counts[]);
const MPI_Count *coll_f08_counts_large(coll_f08_call *call, int length, const MPI_Count counts[]);
const MPI_Aint *coll_f08_places_int(coll_f08_call *call, int length, const MPI_Fint places[]);
const MPI_Aint *coll_f08_places_large(coll_f08_call *call, int length, const MPI_Aint places[]);
const MPI_Datatype *coll_f08_types(coll_f08_call *call, int length, const MPI_Fint types[]);

/*
 * coll_f08_tell is in Fortran and calls coll_f08_learn with the addresses of Fortran's constants.
 */
void coll_f08_tell(void);
void coll_f08_learn(const CFI_cdesc_t *in_place, const CFI_cdesc_t *bottom);

/* Subroutines that only convert types. FLAG is 0 or 1. */
void coll_f08_start(coll_f08_request *request, MPI_Fint *ierror);
void coll_f08_wait(coll_f08_request *request, MPI_Fint *ierror);
void coll_f08_test(coll_f08_request *request, MPI_Fint *flag, MPI_Fint *ierror);
void coll_f08_waitall(const MPI_Fint *count, coll_f08_request requests[], MPI_Fint *ierror);
void coll_f08_request_free(coll_f08_request *request, MPI_Fint *ierror);
void coll_f08_dcp_wait(coll_f08_request *request, MPI_Fint *ierror);
void coll_f08_dcp_test(coll_f08_request *request, MPI_Fint *flag, MPI_Fint *ierror);

/* The other functions, whose arguments need a conversion. */
void coll_f08_set(const MPI_Fint *comm, const char *operation, const char *spec, MPI_Fint *ierror);
void coll_f08_pool_add(COLL_Pool *const *pool, const int64_t *key, const CFI_cdesc_t *value,
                       MPI_Fint *ierror);
void coll_f08_aggregate(COLL_Pool *const *pool, const MPI_Fint *root, const MPI_Fint *comm,
                        COLL_Aggregate_stats *stats, MPI_Fint *ierror);

#endif
