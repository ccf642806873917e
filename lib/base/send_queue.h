/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that leave in the background: their copies are kept until the sends are complete. */
#ifndef COLL_LIB_BASE_SEND_QUEUE_H
#define COLL_LIB_BASE_SEND_QUEUE_H

#include "lib/base/wait.h"

#include <mpi.h>
#include <stdalign.h>
#include <stddef.h>

typedef struct coll_queued_send {
    struct coll_queued_send *next;
    MPI_Request request;
    int to;
    alignas(max_align_t) char bytes[];
} coll_queued_send;

/* The messages whose sends are not complete. A queue of all zeros is empty. */
typedef struct coll_send_queue {
    coll_queued_send *first;
} coll_send_queue;

/*
 * Sets *MESSAGE to a message of BYTES to rank TO. The caller fills in the message, starts its send
 * with (*MESSAGE)->request and passes it to coll_send_queue_add. Returns MPI_SUCCESS or
 * MPI_ERR_NO_MEM.
 */
int coll_queued_send_new(size_t bytes, int to, coll_queued_send **message);

/*
 * Keeps MESSAGE until it has been sent. CODE is the result of starting the send; if CODE is an
 * error, frees MESSAGE and returns CODE. Returns MPI's errors.
 */
int coll_send_queue_add(coll_send_queue *queue, coll_queued_send *message, int code);

/* Frees the messages that have been sent. Returns MPI's errors. */
int coll_send_queue_clear(coll_send_queue *queue);

/*
 * Waits until all messages have been sent, but at most SECONDS for each message in turn (0: no
 * limit). After a timeout, which is not an error, the remaining messages stay in the queue. Returns
 * MPI's errors.
 */
int coll_send_queue_finish(coll_send_queue *queue, coll_wait *wait, double seconds);

/* Gives up the sends as coll_wait_abandon does. */
void coll_send_queue_abandon(coll_send_queue *queue);

#endif
