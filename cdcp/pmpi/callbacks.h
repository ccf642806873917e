/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls the program's error handlers and attribute callbacks with MPI_COMM_WORLD if the MPI library
 * calls them with the communicator that stands for MPI_COMM_WORLD. This works in the same way for C
 * and Fortran: the MPI library is given a function of ours instead of the program's.
 */
#ifndef COLL_CDCP_PMPI_CALLBACKS_H
#define COLL_CDCP_PMPI_CALLBACKS_H

#include <mpi.h>

typedef void coll_function(void);

/*
 * With Open MPI: stores FUNCTION as the program's function of HANDLER. Returns MPI_SUCCESS or
 * MPI_ERR_NO_MEM.
 */
int coll_callbacks_keep_handler(MPI_Errhandler handler, coll_function *function);

/* With Open MPI: returns the program's function of COMM's error handler, or NULL. */
coll_function *coll_callbacks_handler(MPI_Comm comm);

/*
 * With MPICH: if FUNCTION is a stand-in, returns the program's function that it calls, otherwise
 * FUNCTION.
 */
coll_function *coll_callbacks_behind(coll_function *function);

/* Fortran's integers for addresses. MPI-1 uses default integers. */
typedef union coll_callbacks_integer {
    MPI_Aint wide;
    MPI_Fint narrow;
} coll_callbacks_integer;

/* The program's callbacks of an attribute, and their arguments. */
typedef struct coll_callbacks_attribute {
    coll_function *copy, *delete;
    void *c_extra;                        /* the extra state of C */
    coll_callbacks_integer fortran_extra; /* or of Fortran */
    /* with MPICH: functions that call COPY and DELETE in languages other than C */
    coll_function *copy_by, *delete_by;
    int keyval;
    /* number of this record; set by coll_callbacks_keep_attribute */
    MPI_Fint number;
    struct coll_callbacks_attribute *next;
} coll_callbacks_attribute;

/*
 * Stores a copy of ATTRIBUTE, which remains until the program ends. Returns the copy, or NULL if
 * memory is short.
 */
coll_callbacks_attribute *coll_callbacks_keep_attribute(coll_callbacks_attribute attribute);

/* Returns the record with NUMBER, which must exist. */
coll_callbacks_attribute *coll_callbacks_attribute_at(MPI_Fint number);

/* Returns the record of KEYVAL, or NULL. */
coll_callbacks_attribute *coll_callbacks_attribute_of(int keyval);

#endif
