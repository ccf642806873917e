/*
 * The program's error handlers and attribute callbacks, called with MPI_COMM_WORLD where the MPI
 * library calls with what stands for it. C's and Fortran's have the same shape: a function of ours
 * is given to the MPI library in the place of the program's.
 */
#ifndef COLL_CDCP_PMPI_CALLBACKS_H
#define COLL_CDCP_PMPI_CALLBACKS_H

#include <mpi.h>

typedef void coll_function(void);

/* Under Open MPI: remembers that FUNCTION is the program's own behind HANDLER. MPI_ERR_NO_MEM. */
int coll_callbacks_keep_handler(MPI_Errhandler handler, coll_function *function);

/* Under Open MPI: the program's function behind the error handler of COMM, or NULL. */
coll_function *coll_callbacks_handler(MPI_Comm comm);

/* Fortran's integers for addresses; those of MPI-1 are default ones. */
typedef union coll_callbacks_integer {
    MPI_Aint wide;
    MPI_Fint narrow;
} coll_callbacks_integer;

/* The program's callbacks of an attribute and what they are given. */
typedef struct coll_callbacks_attribute {
    coll_function *copy, *delete;
    void *c_extra;                        /* C's, or */
    coll_callbacks_integer fortran_extra; /* Fortran's */
    coll_function *copy_by, *delete_by;   /* MPICH calls them by these in other languages than C */
    int keyval;                           /* set by coll_callbacks_name_attribute */
    MPI_Fint number;                      /* of this record; set by coll_callbacks_keep_attribute */
    struct coll_callbacks_attribute *next;
} coll_callbacks_attribute;

/* A record that lives as long as the program, or NULL: no memory. */
coll_callbacks_attribute *coll_callbacks_keep_attribute(coll_callbacks_attribute attribute);

/* The record that has NUMBER, which must be one that was given. */
coll_callbacks_attribute *coll_callbacks_attribute_at(MPI_Fint number);

/* RECORD is that of KEYVAL from now on. */
void coll_callbacks_name_attribute(coll_callbacks_attribute *record, int keyval);

/* The record of KEYVAL, or NULL. */
coll_callbacks_attribute *coll_callbacks_attribute_of(int keyval);

#endif
