/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that a DCP is sending. The DCP never waits for a send to complete. */
#ifndef COLL_CDCP_SEND_QUEUE_H
#define COLL_CDCP_SEND_QUEUE_H

#include "cdcp/wire.h"

#include <mpi.h>
#include <stddef.h>

typedef struct coll_queued_send coll_queued_send;

typedef struct coll_send_queue {
    MPI_Comm wire;
    coll_queued_send *first; /* messages whose sends are not complete */
} coll_send_queue;

/* Sends copies of HEADER and of BYTES of BODY to RANK with TAG. */
int coll_send_queue_add(coll_send_queue *send_queue, int rank, int tag,
                        const coll_wire_header *header, const void *body, size_t bytes);

/* Frees the messages whose sends are complete. */
int coll_send_queue_clear(coll_send_queue *send_queue);

/* Waits until all sends are complete. */
int coll_send_queue_close(coll_send_queue *send_queue);

#endif
