/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/pmpi/callbacks.h"

#include "cdcp/pmpi/world.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/*
 * Attributes may outlive their keys, so records are never freed. This list also keeps them
 * reachable for leak checkers.
 */
static coll_callbacks_attribute *attributes;

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

/* A freed keyval may be reused for another key: the newest record is the right one. */
coll_callbacks_attribute *coll_callbacks_attribute_of(int keyval) {
    pthread_mutex_lock(&lock);
    coll_callbacks_attribute *record = attributes;
    while (record && record->keyval != keyval)
        record = record->next;
    pthread_mutex_unlock(&lock);
    return record;
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
    if (coll_dcp_substituted.app == MPI_COMM_NULL)
        return PMPI_Comm_create_keyval(copy, delete, keyval, extra);
    coll_callbacks_attribute *attribute =
        coll_callbacks_keep_attribute((coll_callbacks_attribute){.copy = (coll_function *)copy,
                                                                 .delete = (coll_function *)delete,
                                                                 .c_extra = extra,
                                                                 .keyval = MPI_KEYVAL_INVALID});
    if (!attribute)
        return MPI_ERR_NO_MEM;
    int code = PMPI_Comm_create_keyval(copy ? on_copy : NULL, delete ? on_delete : NULL, keyval,
                                       attribute);
    if (code == MPI_SUCCESS) {
        pthread_mutex_lock(&lock);
        attribute->keyval = *keyval;
        pthread_mutex_unlock(&lock);
    }
    return code;
}

#if HAVE_DECL_MPI_ATTR_GET /* otherwise MPI-1's functions are missing */
int MPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete, int *keyval,
                      void *extra) {
    return MPI_Comm_create_keyval(copy, delete, keyval, extra);
}
#endif
