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
/* Attributes may outlive their keys: records are kept, and found again by leak checkers here. */
static coll_callbacks_attribute *attributes;

static handler_record *find(MPI_Errhandler handler) {
    handler_record *record = handlers;
    while (record && record->handler != handler)
        record = record->next;
    return record;
}

/* A handle that was freed comes back for another handler: one record a handle. */
int coll_callbacks_keep_handler(MPI_Errhandler handler, coll_function *function) {
    pthread_mutex_lock(&lock);
    handler_record *record = find(handler);
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
    handler_record *record = find(handler);
    coll_function *function = record ? record->function : NULL;
    pthread_mutex_unlock(&lock);
    PMPI_Errhandler_free(&handler); /* our reference to it */
    return function;
}

coll_callbacks_attribute *coll_callbacks_keep_attribute(coll_callbacks_attribute attribute) {
    coll_callbacks_attribute *record = malloc(sizeof *record);
    if (!record)
        return NULL;
    *record = attribute;
    pthread_mutex_lock(&lock);
    record->number = attributes ? attributes->number + 1 : 0;
    record->next = attributes;
    attributes = record;
    pthread_mutex_unlock(&lock);
    return record;
}

coll_callbacks_attribute *coll_callbacks_attribute_at(MPI_Fint number) {
    pthread_mutex_lock(&lock);
    coll_callbacks_attribute *record = attributes;
    while (record->number != number)
        record = record->next;
    pthread_mutex_unlock(&lock);
    return record;
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

static int on_copy(MPI_Comm comm, int keyval, void *extra, void *from, void *to, int *flag) {
    const coll_callbacks_attribute *attribute = extra;
    return ((MPI_Comm_copy_attr_function *)attribute->copy)(coll_world_shown(comm), keyval,
                                                            attribute->c_extra, from, to, flag);
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    const coll_callbacks_attribute *attribute = extra;
    return ((MPI_Comm_delete_attr_function *)attribute->delete)(coll_world_shown(comm), keyval,
                                                                value, attribute->c_extra);
}

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete,
                           int *keyval, void *extra) {
    if (coll_dcp_substituted.app == MPI_COMM_NULL || !copy || !delete)
        return PMPI_Comm_create_keyval(copy, delete, keyval, extra);
    coll_callbacks_attribute *attribute = coll_callbacks_keep_attribute((coll_callbacks_attribute){
        .copy = (coll_function *)copy, .delete = (coll_function *)delete, .c_extra = extra});
    return attribute ? PMPI_Comm_create_keyval(on_copy, on_delete, keyval, attribute)
                     : MPI_ERR_NO_MEM;
}

int MPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete, int *keyval,
                      void *extra) {
    return MPI_Comm_create_keyval(copy, delete, keyval, extra);
}
