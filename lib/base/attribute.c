/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/attribute.h"

#include "lib/base/error.h"

void coll_attribute_release(coll_attribute *attribute) {
    if (atomic_fetch_sub(&attribute->holders, 1) == 1)
        attribute->destroy(attribute);
}

int coll_attribute_delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    coll_attribute *attribute = value;
    /*
     * If this is not the only holder, a call that frees COMM holds the attribute, too, and ends the
     * data or has ended it.
     */
    const bool alone = atomic_load(&attribute->holders) == 1 && !attribute->ended;
    const int code = alone ? attribute->end(attribute) : MPI_SUCCESS;
    coll_attribute_release(attribute);
    return code;
}

int coll_attribute_free_comm(int (*mpi_free)(MPI_Comm *), MPI_Comm *comm, int count,
                             coll_attribute *const attributes[]) {
    for (int i = 0; i < count; i++)
        if (attributes[i])
            atomic_fetch_add(&attributes[i]->holders, 1);
    const int freed = mpi_free(comm);
    int code = freed;
    for (int i = 0; i < count; i++) {
        coll_attribute *one = attributes[i];
        if (!one)
            continue;
        /* After an error the communicator may still have the attribute. */
        one->ended = freed == MPI_SUCCESS || atomic_load(&one->holders) == 1;
        const int ended = one->ended ? one->end(one) : MPI_SUCCESS;
        code = code == MPI_SUCCESS ? coll_raise(MPI_COMM_NULL, ended) : code;
        coll_attribute_release(one);
    }
    return code;
}
