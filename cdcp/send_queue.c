/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/send_queue.h"

#include "lib/base/error.h"

#include <stdlib.h>
#include <string.h>

struct coll_queued_send {
    coll_queued_send *next;
    MPI_Request request;
    coll_wire_header header;
    char body[];
};

int coll_send_queue_add(coll_send_queue *send_queue, int rank, int tag,
                        const coll_wire_header *header, const void *body, size_t bytes) {
    coll_queued_send *message = malloc(sizeof *message + bytes);
    if (!message)
        return coll_error(MPI_ERR_NO_MEM, "no memory for a message of %zu bytes", bytes);
    message->header = *header;
    if (bytes)
        memcpy(message->body, body, bytes);
    int left = 0, length = (int)(sizeof *header + bytes);
    int code = PMPI_Isend(&message->header, length, MPI_BYTE, rank, tag, send_queue->wire,
                          &message->request);
    if (code == MPI_SUCCESS)
        code = PMPI_Test(&message->request, &left, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || left) {
        free(message);
        return code;
    }
    message->next = send_queue->first;
    send_queue->first = message;
    return MPI_SUCCESS;
}

int coll_send_queue_clear(coll_send_queue *send_queue) {
    coll_queued_send **link = &send_queue->first;
    while (*link) {
        coll_queued_send *message = *link;
        int left = 0, code = PMPI_Test(&message->request, &left, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS)
            return code;
        if (left) {
            *link = message->next;
            free(message);
        } else
            link = &message->next;
    }
    return MPI_SUCCESS;
}

int coll_send_queue_close(coll_send_queue *send_queue) {
    int code = MPI_SUCCESS;
    while (send_queue->first && code == MPI_SUCCESS) {
        coll_queued_send *message = send_queue->first;
        code = PMPI_Wait(&message->request, MPI_STATUS_IGNORE);
        send_queue->first = message->next;
        free(message);
    }
    return code;
}
