/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message buffers and requests of one rank's confirmed broadcast: one inbox, and one outbox for
 * each epoch. An outbox has WINDOW slots for segments and one for the message that ends its epoch.
 * The inbox is processed in the order in which its receives were posted, which is the order in
 * which each sender's messages arrive.
 */
#ifndef COLL_LIB_BCAST_RELIABLE_RING_BUFFERS_H
#define COLL_LIB_BCAST_RELIABLE_RING_BUFFERS_H

#include "lib/base/comm.h"
#include "lib/bcast/reliable/segment_header.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Positions in the array of requests: one for the caller, then those of the inbox, then those of
 * the outboxes.
 */
enum { COLL_RING_BUFFERS_OWN, COLL_RING_BUFFERS_INBOX };

typedef struct coll_ring_buffers {
    coll_comm *comm;
    int tag;         /* tag of the messages */
    size_t segment;  /* most bytes of payload in a message */
    size_t window;   /* slots for segments in the inbox and in each outbox */
    uint32_t epochs; /* most epochs */

    MPI_Request *requests;
    char *inbox;
    bool *arrived; /* for each slot of the inbox: whether its receive is complete */
    size_t head;   /* the slot of the inbox whose receive was posted first */
    char **outboxes;
} coll_ring_buffers;

/*
 * Returns the size of the memory that BUFFERS need, in bytes, including the first outbox. The first
 * five members of BUFFERS must be set.
 */
size_t coll_ring_buffers_bytes(const coll_ring_buffers *buffers);

/*
 * Takes the memory of coll_ring_buffers_bytes from *SCRATCH, advances *SCRATCH, and initializes all
 * requests to MPI_REQUEST_NULL.
 */
void coll_ring_buffers_furnish(coll_ring_buffers *buffers, char **scratch);

/* Allocates the outbox of EPOCH, if it does not exist. Returns false if out of memory. */
bool coll_ring_buffers_open(coll_ring_buffers *buffers, uint32_t epoch);

/* Frees the outboxes of epochs 1 to LAST. */
void coll_ring_buffers_free(coll_ring_buffers *buffers, uint32_t last);

/* Returns the number of requests up to and including those of EPOCH's outbox. */
int coll_ring_buffers_requests(const coll_ring_buffers *buffers, uint32_t epoch);

/*
 * coll_ring_buffers_in returns the message buffer in SLOT of the inbox; coll_ring_buffers_await
 * posts its receive.
 */
coll_segment_header *coll_ring_buffers_in(const coll_ring_buffers *buffers, size_t slot);
int coll_ring_buffers_await(coll_ring_buffers *buffers, size_t slot);

/* Cancels the inbox's posted receives, for which no rank sends messages any more. Returns MPI's
 * errors. */
int coll_ring_buffers_cancel(coll_ring_buffers *buffers);

/*
 * coll_ring_buffers_out returns the message buffer in SLOT of EPOCH's outbox (slot WINDOW is for
 * the message that ends the epoch); coll_ring_buffers_send starts to send that message to rank TO.
 */
coll_segment_header *coll_ring_buffers_out(const coll_ring_buffers *buffers, uint32_t epoch,
                                           size_t slot);
int coll_ring_buffers_send(coll_ring_buffers *buffers, uint32_t epoch, size_t slot, int to);

/* Returns whether the last send from SLOT of EPOCH's outbox, if any, is complete. */
bool coll_ring_buffers_is_free(const coll_ring_buffers *buffers, uint32_t epoch, size_t slot);

/* Returns whether all sends of the epochs before EPOCH are complete. */
bool coll_ring_buffers_have_left(const coll_ring_buffers *buffers, uint32_t epoch);

/* Returns the requests of all outboxes, which are contiguous. */
MPI_Request *coll_ring_buffers_sends(const coll_ring_buffers *buffers);

#endif
