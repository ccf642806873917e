/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that is attached to a communicator as an attribute. Ending the data (by END) takes messages
 * or locks. If messages are pending on a communicator that is freed, MPICH deletes the attributes
 * when the last message is complete: inside another MPI call, perhaps of another thread, where
 * nothing can be sent or locked. So the call that frees the communicator ends the data. The memory
 * is freed by that call or by the deletion of the attribute, whichever comes last.
 */
#ifndef COLL_LIB_BASE_ATTRIBUTE_H
#define COLL_LIB_BASE_ATTRIBUTE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The first member of the data. */
typedef struct coll_attribute {
    int (*end)(struct coll_attribute *);      /* called once; returns MPI's errors */
    void (*destroy)(struct coll_attribute *); /* frees the memory; calls no MPI */
    atomic_int holders; /* the communicator, a call that is freeing it, and holders that END adds */
    bool ended;
} coll_attribute;

/*
 * Deletes the attribute VALUE, a coll_attribute; the callback for MPI_Comm_create_keyval. Ends the
 * data, unless coll_attribute_free_comm does.
 */
int coll_attribute_delete(MPI_Comm comm, int key, void *value, void *extra);

/* Drops a hold on ATTRIBUTE. Dropping the last hold frees the memory. */
void coll_attribute_release(coll_attribute *attribute);

/*
 * Frees COMM by MPI_FREE, which is PMPI_Comm_free or PMPI_Comm_disconnect, and then ends the COUNT
 * attributes of COMM in ATTRIBUTES, in this order. Elements may be NULL. Returns the error of
 * MPI_FREE, or else the first error of an END, which it raises on MPI_COMM_WORLD.
 */
int coll_attribute_free_comm(int (*mpi_free)(MPI_Comm *), MPI_Comm *comm, int count,
                             coll_attribute *const attributes[]);

#endif
