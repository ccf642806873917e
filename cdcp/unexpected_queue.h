/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that have arrived at a DCP before it can use them, in the order of their arrival. */
#ifndef COLL_CDCP_UNEXPECTED_QUEUE_H
#define COLL_CDCP_UNEXPECTED_QUEUE_H

#include "cdcp/wire.h"

#include <stddef.h>

typedef struct coll_unexpected_message {
    struct coll_unexpected_message *next;
    coll_wire_header header;
    int source;
    size_t bytes;
    char body[];
} coll_unexpected_message;

/* A list of messages, empty if it is all zeros. Free it with coll_unexpected_queue_free. */
typedef struct coll_unexpected_queue {
    coll_unexpected_message *first, *last;
} coll_unexpected_queue;

/* Appends a copy of a message. Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
int coll_unexpected_queue_add(coll_unexpected_queue *list, const coll_wire_header *header,
                              const void *body, size_t bytes, int source);

/*
 * Removes and returns the first message with DEPTH, or of any depth with COLL_UNEXPECTED_ANY. The
 * caller frees it. Returns NULL if there is none.
 */
enum { COLL_UNEXPECTED_ANY = -1 };
coll_unexpected_message *coll_unexpected_queue_take(coll_unexpected_queue *list, int depth);

void coll_unexpected_queue_free(coll_unexpected_queue *list);

#endif
