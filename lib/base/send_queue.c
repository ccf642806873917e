/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/send_queue.h"

#include "lib/base/error.h"
#include "lib/base/reserve_alloc.h"

int coll_queued_send_new(size_t bytes, int to, coll_queued_send **message) {
    *message = coll_reserve_alloc(sizeof **message + bytes);
    if (!*message)
        return coll_error(MPI_ERR_NO_MEM, "no memory for a message of %zu bytes to rank %d", bytes,
                          to);
    (*message)->to = to;
    return MPI_SUCCESS;
}

/* Sets *SENT to whether the message at LINK has been sent. If so, removes and frees it. */
static int remove_if_sent(coll_queued_send **link, int *sent) {
    coll_queued_send *message = *link;
    *sent = 0;
    int code = PMPI_Test(&message->request, sent, MPI_STATUS_IGNORE);
    if (*sent) {
        *link = message->next;
        coll_reserve_free(message);
    }
    return code;
}

int coll_send_queue_add(coll_send_queue *queue, coll_queued_send *message, int code) {
    if (code != MPI_SUCCESS) {
        coll_reserve_free(message);
        return code;
    }
    int sent;
    message->next = queue->first;
    queue->first = message;
    return remove_if_sent(&queue->first, &sent);
}

int coll_send_queue_clear(coll_send_queue *queue) {
    coll_queued_send **link = &queue->first;
    int sent, code = MPI_SUCCESS;
    while (*link && code == MPI_SUCCESS) {
        code = remove_if_sent(link, &sent);
        if (!sent)
            link = &(*link)->next;
    }
    return code;
}

int coll_send_queue_finish(coll_send_queue *queue, coll_wait *wait, double seconds) {
    int index = 0;
    int code = coll_send_queue_clear(queue);
    while (queue->first && index != MPI_UNDEFINED && code == MPI_SUCCESS) {
        code = coll_wait_any_for(wait, seconds, 1, &queue->first->request, &index);
        if (code == MPI_SUCCESS)
            code = coll_send_queue_clear(queue);
    }
    return code;
}

void coll_send_queue_abandon(coll_send_queue *queue) {
    for (coll_queued_send *message = queue->first; message; message = message->next)
        coll_wait_abandon(1, &message->request);
}
