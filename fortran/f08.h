/*
 * What stands between Fortran's coll_f08 and libcoll. Each subroutine of the module is one of C
 * (calls.c.in), which makes C's of Fortran's arguments: buffers come as descriptors, all else by
 * reference, and an IERROR that was left out is NULL.
 */
#ifndef COLL_FORTRAN_F08_H
#define COLL_FORTRAN_F08_H

#include "coll.h"

#include <ISO_Fortran_binding.h>
#include <mpi.h>

/* type(COLL_Request) and type(DCP_Request). */
typedef struct coll_f08_request {
    union {
        COLL_Request coll;
        DCP_Request dcp;
    };
    void *kept; /* lists of numbers that the operation needs until the request is complete */
} coll_f08_request;

/* A call under way. Its lists, of counts or displacements by rank, are C's: LENGTH numbers each. */
typedef struct coll_f08_call {
    char *memory, *next;
    int length;
} coll_f08_call;

/* Instead of a root: the lists count on every rank. */
enum { COLL_F08_ALL = -99 };

/*
 * Checks what a call of the operation NAME has, and makes room for so many LISTS; they are empty
 * where they don't count, on ranks that aren't the root. BUFFERS may be NULL. Close it even after
 * an error, which has been raised on COMM: MPI_ERR_BUFFER for an array section with gaps,
 * MPI_ERR_NO_MEM.
 */
int coll_f08_open(coll_f08_call *call, const char *name, const CFI_cdesc_t *first,
                  const CFI_cdesc_t *second, MPI_Fint comm, MPI_Fint root, int lists);

/* Hands CODE over, and the call's lists to REQUEST, unless that is NULL, or CODE an error. */
void coll_f08_close(coll_f08_call *call, coll_f08_request *request, int code, MPI_Fint *ierror);

/* The address of a buffer as C knows it, MPI_IN_PLACE and MPI_BOTTOM too. */
void *coll_f08_address(const CFI_cdesc_t *buffer);

/* Copies in the next of the call's lists. */
const MPI_Count *coll_f08_counts_int(coll_f08_call *call, const MPI_Fint counts[]);
const MPI_Count *coll_f08_counts_large(coll_f08_call *call, const MPI_Count counts[]);
const MPI_Aint *coll_f08_places_int(coll_f08_call *call, const MPI_Fint places[]);
const MPI_Aint *coll_f08_places_large(coll_f08_call *call, const MPI_Aint places[]);

/* In Fortran: calls coll_f08_learn with that language's constants. */
void coll_f08_tell(void);
void coll_f08_learn(const CFI_cdesc_t *in_place, const CFI_cdesc_t *bottom);

/* The subroutines that are the same in all but their types. FLAG is 0 or 1. */
void coll_f08_start(coll_f08_request *request, MPI_Fint *ierror);
void coll_f08_wait(coll_f08_request *request, MPI_Fint *ierror);
void coll_f08_test(coll_f08_request *request, MPI_Fint *flag, MPI_Fint *ierror);
void coll_f08_waitall(const MPI_Fint *count, coll_f08_request requests[], MPI_Fint *ierror);
void coll_f08_request_free(coll_f08_request *request, MPI_Fint *ierror);
void coll_f08_dcp_wait(coll_f08_request *request, MPI_Fint *ierror);
void coll_f08_dcp_test(coll_f08_request *request, MPI_Fint *flag, MPI_Fint *ierror);

/* Of COMM by Fortran's handle. */
void coll_f08_set(const MPI_Fint *comm, const char *operation, const char *spec, MPI_Fint *ierror);
void coll_f08_pool_add(COLL_Pool *const *pool, const int64_t *key, const CFI_cdesc_t *value,
                       MPI_Fint *ierror);
void coll_f08_aggregate(COLL_Pool *const *pool, const MPI_Fint *root, const MPI_Fint *comm,
                        COLL_Aggregate_stats *stats, MPI_Fint *ierror);

#endif
