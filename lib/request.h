/* What the public entries of operations that are started share. */
#ifndef COLL_LIB_REQUEST_H
#define COLL_LIB_REQUEST_H

#include "lib/operation/pending.h"

/* A call that an entry got. */
typedef struct coll_entry {
    const char *name; /* the entry's */
    coll_operation operation;
    const void *given; /* arguments */
    /* Prepares PENDING, whose communicator is set; not raised. */
    int (*prepare)(coll_pending *pending, const struct coll_entry *entry);
    /* Starts the MPI library's own on COMM, and raises errors; *ARGUMENTS, which may stay NULL, is
     * what that needs until it is complete. */
    int (*natively)(const struct coll_entry *entry, MPI_Comm comm, MPI_Request *native,
                    int **arguments);
} coll_entry;

/*
 * Starts it. The MPI library's own runs on a communicator that is not set up, between two, and
 * where the user asks for native. Errors are raised.
 */
int coll_request_start(const coll_entry *entry, MPI_Comm comm, COLL_Request *request);

/* Makes a persistent request of it; collective. */
int coll_request_keep(const coll_entry *entry, MPI_Comm comm, COLL_Request *request);

/*
 * The two entries of an operation: their names, how it is prepared and started natively,
 * PARAMETERS in brackets, and the arguments, of TYPE, that these are.
 */
#define COLL_STARTED(nonblocking, persistent, operation, prepare, natively, type, parameters, ...) \
    int nonblocking(COLL_EACH parameters MPI_Comm comm, COLL_Request *request) {                   \
        const type given = {__VA_ARGS__};                                                          \
        const coll_entry entry = {__func__, operation, &given, prepare, natively};                 \
        return coll_request_start(&entry, comm, request);                                          \
    }                                                                                              \
    int persistent(COLL_EACH parameters MPI_Comm comm, MPI_Info info, COLL_Request *request) {     \
        const type given = {__VA_ARGS__};                                                          \
        const coll_entry entry = {__func__, operation, &given, prepare, natively};                 \
        (void)info;                                                                                \
        return coll_request_keep(&entry, comm, request);                                           \
    }
#define COLL_EACH(...) __VA_ARGS__

#endif
