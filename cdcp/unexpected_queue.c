/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/unexpected_queue.h"

#include "lib/base/error.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int coll_unexpected_queue_add(coll_unexpected_queue *list, const coll_wire_header *header,
                              const void *body, size_t bytes, int source) {
    coll_unexpected_message *message = malloc(sizeof *message + bytes);
    if (!message)
        return coll_error(MPI_ERR_NO_MEM, "a dedicated processor has no memory for a message");
    *message = (coll_unexpected_message){.header = *header, .source = source, .bytes = bytes};
    if (bytes)
        memcpy(message->body, body, bytes);
    if (list->last)
        list->last->next = message;
    else
        list->first = message;
    list->last = message;
    return MPI_SUCCESS;
}

coll_unexpected_message *coll_unexpected_queue_take(coll_unexpected_queue *list, int depth) {
    coll_unexpected_message *before = NULL, *message = list->first;
    while (message && depth != COLL_UNEXPECTED_ANY && message->header.depth != depth) {
        before = message;
        message = message->next;
    }
    if (!message)
        return NULL;
    if (before)
        before->next = message->next;
    else
        list->first = message->next;
    if (list->last == message)
        list->last = before;
    return message;
}

void coll_unexpected_queue_free(coll_unexpected_queue *list) {
    coll_unexpected_message *message;
    while ((message = coll_unexpected_queue_take(list, COLL_UNEXPECTED_ANY)))
        free(message);
}
