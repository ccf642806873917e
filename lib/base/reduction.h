/* How an MPI_Op combines elements of a datatype, some of them packed as they travel. */
#ifndef COLL_LIB_BASE_REDUCTION_H
#define COLL_LIB_BASE_REDUCTION_H

#include "lib/base/data.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct coll_reduction {
    MPI_Op op;
    MPI_Datatype type;
    size_t element;        /* bytes of data in an element of the type */
    MPI_Aint extent;       /* from one element to the next */
    MPI_Aint lower, bytes; /* where an element's memory begins, and how long it is */
    bool ordered;          /* the op does not commute */
} coll_reduction;

/* TYPE and OP stay the user's. */
int coll_reduction_open(coll_reduction *reduction, MPI_Datatype type, MPI_Op op);

/* The memory that a combination needs besides its operands. */
size_t coll_reduction_spare(const coll_reduction *reduction);

/* Elements [from, from + length), in bytes, of DATA, which is of the reduction's type, and as many
 * that are packed at BYTES. */
typedef struct coll_operands {
    const coll_data *data;
    size_t from, length;
    char *bytes;
    char *others;     /* not NULL: packed ones, which FROM counts in; DATA only has their type */
    bool bytes_first; /* they are the first operand */
    bool to_bytes;    /* there the result goes; else to the data, or to OTHERS */
} coll_operands;

/* Combines them, with SPARE memory. What gets no result may change where it is packed, not in the
 * data. */
int coll_reduction_combine(const coll_reduction *reduction, const coll_operands *operands,
                           char *spare);

#endif
