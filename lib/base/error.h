/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI error codes with a message of their own. */
#ifndef COLL_LIB_BASE_ERROR_H
#define COLL_LIB_BASE_ERROR_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Returns an MPI error code of class ERROR_CLASS (MPI_ERR_ARG, ...) whose MPI_Error_string is the
 * formatted text, cut to at most MPI_MAX_ERROR_STRING. The thread's next error of the same class
 * replaces the text. Returns ERROR_CLASS itself if MPI cannot add codes or coll_error_divert has
 * redirected the texts.
 */
int coll_error(int error_class, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Returns the class of CODE. Use it instead of MPI_Error_class, which fails for added codes in
 * MPICH 4.0.
 */
int coll_error_class(int code);

/*
 * Redirects the texts of this thread's errors to TEXT, of SIZE bytes, instead of to MPI, which need
 * not be initialized then. A TEXT of NULL ends the redirection.
 */
void coll_error_divert(char *text, size_t size);

/*
 * Sets whether this thread's errors are only returned, without invoking an error handler, and
 * returns the previous setting.
 */
bool coll_error_return(bool returned);

/* Invokes the error handler of COMM, or of MPI_COMM_WORLD if COMM is MPI_COMM_NULL, with CODE. */
void coll_call_handler(MPI_Comm comm, int code);

/* Invokes the error handler if CODE is an error, as MPI's own calls do, and returns CODE. */
static inline int coll_raise(MPI_Comm comm, int code) {
    if (code != MPI_SUCCESS)
        coll_call_handler(comm, code);
    return code;
}

/*
 * Appends ITEM to the comma-separated LIST in a buffer of SIZE bytes; truncates if it doesn't fit.
 */
void coll_error_list(char *list, size_t size, const char *item);

#endif
