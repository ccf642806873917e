/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combining elements of a datatype with an MPI_Op, when some of the operands are packed, as they
 * are in messages.
 */
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
    MPI_Aint lower, bytes; /* true lower bound and true extent of an element */
    bool ordered;          /* the op does not commute */
} coll_reduction;

/* Describes the reduction of TYPE with OP, which stay the user's. Returns MPI's errors. */
int coll_reduction_open(coll_reduction *reduction, MPI_Datatype type, MPI_Op op);

/* Returns the size in bytes of the scratch memory that coll_reduction_combine needs. */
size_t coll_reduction_spare(const coll_reduction *reduction);

/*
 * The two operands of a combination: the whole elements in bytes [FROM, FROM + LENGTH) of DATA,
 * which has the reduction's type, and the same number of packed elements at BYTES.
 */
typedef struct coll_operands {
    const coll_data *data;
    size_t from, length;
    char *bytes;
    /*
     * if not NULL, packed elements that replace the elements of DATA, also indexed by FROM; DATA
     * then only gives the type
     */
    char *others;
    bool bytes_first; /* the elements at BYTES are the first operand */
    bool to_bytes;    /* the result replaces BYTES; else the data, or OTHERS */
} coll_operands;

/*
 * Combines the operands. SPARE is scratch memory of coll_reduction_spare bytes. The operand that
 * does not receive the result may be overwritten if it is packed, but never if it is in DATA.
 * Returns MPI's errors.
 */
int coll_reduction_combine(const coll_reduction *reduction, const coll_operands *operands,
                           char *spare);

#endif
