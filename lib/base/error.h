/* Errors with a text of their own, as MPI error codes. */
#ifndef COLL_LIB_BASE_ERROR_H
#define COLL_LIB_BASE_ERROR_H

#include <mpi.h>

/*
 * An MPI error code of class ERROR_CLASS (MPI_ERR_ARG, ...) whose MPI_Error_string is the formatted
 * text, cut to MPI_MAX_ERROR_STRING. The thread's next error of the same class replaces the text.
 * Where MPI cannot add codes, ERROR_CLASS itself comes back.
 */
int coll_error(int error_class, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands a non-zero CODE to COMM's error handler, as MPI's own calls do, and returns it. */
int coll_raise(MPI_Comm comm, int code);

#endif
