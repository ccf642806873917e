/* Errors with a text of their own, as MPI error codes. */
#ifndef COLL_LIB_BASE_ERROR_H
#define COLL_LIB_BASE_ERROR_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * An MPI error code of class ERROR_CLASS (MPI_ERR_ARG, ...) whose MPI_Error_string is the formatted
 * text, cut to MPI_MAX_ERROR_STRING. The thread's next error of the same class replaces the text.
 * Where MPI cannot add codes, ERROR_CLASS itself comes back.
 */
int coll_error(int error_class, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The class of CODE. MPI_Error_class of MPICH 4.0 doesn't know that of codes which were added. */
int coll_error_class(int code);

/*
 * From now on the text of this thread's last error goes to TEXT of SIZE bytes, and not to MPI,
 * which need not be initialized then; with a TEXT of NULL to MPI again.
 */
void coll_error_divert(char *text, size_t size);

/* Whether errors of this thread are only returned from now on, to one who raises them; and whether
 * they were before. */
bool coll_error_return(bool returned);

/* Hands CODE to COMM's error handler, or without a communicator to MPI_COMM_WORLD's. */
void coll_call_handler(MPI_Comm comm, int code);

/* Does so where CODE is an error, as MPI's own calls do, and returns it. */
static inline int coll_raise(MPI_Comm comm, int code) {
    if (code != MPI_SUCCESS)
        coll_call_handler(comm, code);
    return code;
}

/* Appends ITEM to a LIST "a, b, c" of SIZE bytes; what doesn't fit is cut. */
void coll_error_list(char *list, size_t size, const char *item);

#endif
