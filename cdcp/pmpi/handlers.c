/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers with Open MPI, which returns the error handler of a communicator even while it is
 * calling this handler.
 */
#include "config.h"

#include "cdcp/pmpi/callbacks.h"
#include "cdcp/pmpi/world.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct handler_record {
    MPI_Errhandler handler;
    coll_function *function;
    struct handler_record *next;
} handler_record;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static handler_record *handlers;

static handler_record *find_record(MPI_Errhandler handler) {
    handler_record *record = handlers;
    while (record && record->handler != handler)
        record = record->next;
    return record;
}

/* A freed handle may be reused for another handler, so there is one record for each handle. */
int coll_callbacks_keep_handler(MPI_Errhandler handler, coll_function *function) {
    pthread_mutex_lock(&lock);
    handler_record *record = find_record(handler);
    if (!record && (record = malloc(sizeof *record))) {
        record->handler = handler;
        record->next = handlers;
        handlers = record;
    }
    if (record)
        record->function = function;
    pthread_mutex_unlock(&lock);
    return record ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

coll_function *coll_callbacks_handler(MPI_Comm comm) {
    MPI_Errhandler handler;
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return NULL;
    pthread_mutex_lock(&lock);
    handler_record *record = find_record(handler);
    coll_function *function = record ? record->function : NULL;
    pthread_mutex_unlock(&lock);
    PMPI_Errhandler_free(&handler); /* drop the reference that PMPI_Comm_get_errhandler has added */
    return function;
}

static void on_error(MPI_Comm *comm, int *code, ...) {
    MPI_Comm shown = coll_world_shown(*comm);
    MPI_Comm_errhandler_function *function =
        (MPI_Comm_errhandler_function *)coll_callbacks_handler(*comm);
    if (function)
        function(&shown, code);
}

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler) {
    if (coll_dcp_substituted.app == MPI_COMM_NULL || !function)
        return PMPI_Comm_create_errhandler(function, handler);
    int code = PMPI_Comm_create_errhandler(on_error, handler);
    return code == MPI_SUCCESS ? coll_callbacks_keep_handler(*handler, (coll_function *)function)
                               : code;
}
