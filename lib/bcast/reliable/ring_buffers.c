/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/bcast/reliable/ring_buffers.h"

#include "lib/base/comm.h"
#include "lib/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Returns the bytes of a message buffer, rounded up for alignment. */
static size_t message_size(const coll_ring_buffers *boxes) {
    size_t unit = _Alignof(coll_segment_header);
    return sizeof(coll_segment_header) + (boxes->segment + unit - 1) / unit * unit;
}

static size_t outbox_bytes(const coll_ring_buffers *boxes) {
    return boxes->window * message_size(boxes) + sizeof(coll_segment_header);
}

static MPI_Request *outbox_requests(const coll_ring_buffers *boxes, uint32_t epoch) {
    return boxes->requests + COLL_RING_BUFFERS_INBOX + boxes->window + epoch * (boxes->window + 1);
}

static size_t max_requests(const coll_ring_buffers *boxes) {
    return COLL_RING_BUFFERS_INBOX + boxes->window + boxes->epochs * (boxes->window + 1);
}

size_t coll_ring_buffers_bytes(const coll_ring_buffers *boxes) {
    return coll_comm_room_of(boxes->epochs * sizeof *boxes->outboxes) +
           coll_comm_room_of(max_requests(boxes) * sizeof *boxes->requests) +
           coll_comm_room_of(boxes->window * message_size(boxes)) +
           coll_comm_room_of(outbox_bytes(boxes)) +
           coll_comm_room_of(boxes->window * sizeof *boxes->arrived);
}

void coll_ring_buffers_furnish(coll_ring_buffers *boxes, char **room) {
    boxes->outboxes = coll_comm_room_take(room, boxes->epochs * sizeof *boxes->outboxes);
    boxes->requests = coll_comm_room_take(room, max_requests(boxes) * sizeof *boxes->requests);
    boxes->inbox = coll_comm_room_take(room, boxes->window * message_size(boxes));
    memset(boxes->outboxes, 0, boxes->epochs * sizeof *boxes->outboxes);
    boxes->outboxes[0] = coll_comm_room_take(room, outbox_bytes(boxes));
    boxes->arrived = coll_comm_room_take(room, boxes->window * sizeof *boxes->arrived);
    memset(boxes->arrived, 0, boxes->window * sizeof *boxes->arrived);
    for (size_t i = 0; i < max_requests(boxes); i++)
        boxes->requests[i] = MPI_REQUEST_NULL;
}

int coll_ring_buffers_open(coll_ring_buffers *boxes, uint32_t epoch) {
    char **box = &boxes->outboxes[epoch];
    if (!*box)
        *box = malloc(outbox_bytes(boxes));
    return *box ? MPI_SUCCESS
                : coll_error(MPI_ERR_NO_MEM, "no memory for %zu segments of %zu bytes",
                             boxes->window, boxes->segment);
}

void coll_ring_buffers_free(coll_ring_buffers *boxes, uint32_t last) {
    for (uint32_t epoch = 1; epoch <= last; epoch++)
        free(boxes->outboxes[epoch]);
}

int coll_ring_buffers_requests(const coll_ring_buffers *boxes, uint32_t epoch) {
    return (int)(outbox_requests(boxes, epoch + 1) - boxes->requests);
}

coll_segment_header *coll_ring_buffers_in(const coll_ring_buffers *boxes, size_t slot) {
    return (coll_segment_header *)(boxes->inbox + slot * message_size(boxes));
}

int coll_ring_buffers_await(coll_ring_buffers *boxes, size_t slot) {
    boxes->arrived[slot] = false;
    return coll_irecv(boxes->comm, coll_ring_buffers_in(boxes, slot), (int)message_size(boxes),
                      MPI_BYTE, MPI_ANY_SOURCE, boxes->tag,
                      &boxes->requests[COLL_RING_BUFFERS_INBOX + slot]);
}

int coll_ring_buffers_cancel(coll_ring_buffers *boxes) {
    int code = MPI_SUCCESS;
    for (size_t slot = 0; slot < boxes->window && code == MPI_SUCCESS; slot++) {
        MPI_Request *awaited = &boxes->requests[COLL_RING_BUFFERS_INBOX + slot];
        if (*awaited == MPI_REQUEST_NULL)
            continue;
        code = PMPI_Cancel(awaited);
        if (code == MPI_SUCCESS)
            code = PMPI_Wait(awaited, MPI_STATUS_IGNORE);
    }
    return code;
}

coll_segment_header *coll_ring_buffers_out(const coll_ring_buffers *boxes, uint32_t epoch,
                                           size_t slot) {
    return (coll_segment_header *)(boxes->outboxes[epoch] + slot * message_size(boxes));
}

int coll_ring_buffers_send(coll_ring_buffers *boxes, uint32_t epoch, size_t slot, int to) {
    coll_segment_header *message = coll_ring_buffers_out(boxes, epoch, slot);
    return coll_isend(boxes->comm, message, (int)coll_segment_header_bytes(message), MPI_BYTE, to,
                      boxes->tag, &outbox_requests(boxes, epoch)[slot]);
}

bool coll_ring_buffers_is_free(const coll_ring_buffers *boxes, uint32_t epoch, size_t slot) {
    return outbox_requests(boxes, epoch)[slot] == MPI_REQUEST_NULL;
}

bool coll_ring_buffers_have_left(const coll_ring_buffers *boxes, uint32_t epoch) {
    for (const MPI_Request *r = outbox_requests(boxes, 0); r < outbox_requests(boxes, epoch); r++)
        if (*r != MPI_REQUEST_NULL)
            return false;
    return true;
}

MPI_Request *coll_ring_buffers_sends(const coll_ring_buffers *boxes) {
    return outbox_requests(boxes, 0);
}
