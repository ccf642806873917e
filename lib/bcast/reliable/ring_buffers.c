/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/bcast/reliable/ring_buffers.h"

#include "lib/base/comm.h"

#include <stdlib.h>
#include <string.h>

/* Returns the bytes of a message buffer, rounded up for alignment. */
static size_t message_size(const coll_ring_buffers *buffers) {
    size_t unit = _Alignof(coll_segment_header);
    return sizeof(coll_segment_header) + (buffers->segment + unit - 1) / unit * unit;
}

static size_t outbox_bytes(const coll_ring_buffers *buffers) {
    return buffers->window * message_size(buffers) + sizeof(coll_segment_header);
}

static MPI_Request *outbox_requests(const coll_ring_buffers *buffers, uint32_t epoch) {
    return buffers->requests + COLL_RING_BUFFERS_INBOX + buffers->window +
           epoch * (buffers->window + 1);
}

static size_t max_requests(const coll_ring_buffers *buffers) {
    return COLL_RING_BUFFERS_INBOX + buffers->window + buffers->epochs * (buffers->window + 1);
}

size_t coll_ring_buffers_bytes(const coll_ring_buffers *buffers) {
    return coll_scratch_bytes(buffers->epochs * sizeof *buffers->outboxes) +
           coll_scratch_bytes(max_requests(buffers) * sizeof *buffers->requests) +
           coll_scratch_bytes(buffers->window * message_size(buffers)) +
           coll_scratch_bytes(outbox_bytes(buffers)) +
           coll_scratch_bytes(buffers->window * sizeof *buffers->arrived);
}

void coll_ring_buffers_furnish(coll_ring_buffers *buffers, char **scratch) {
    buffers->outboxes = coll_scratch_alloc(scratch, buffers->epochs * sizeof *buffers->outboxes);
    buffers->requests =
        coll_scratch_alloc(scratch, max_requests(buffers) * sizeof *buffers->requests);
    buffers->inbox = coll_scratch_alloc(scratch, buffers->window * message_size(buffers));
    memset(buffers->outboxes, 0, buffers->epochs * sizeof *buffers->outboxes);
    buffers->outboxes[0] = coll_scratch_alloc(scratch, outbox_bytes(buffers));
    buffers->arrived = coll_scratch_alloc(scratch, buffers->window * sizeof *buffers->arrived);
    memset(buffers->arrived, 0, buffers->window * sizeof *buffers->arrived);
    for (size_t i = 0; i < max_requests(buffers); i++)
        buffers->requests[i] = MPI_REQUEST_NULL;
}

bool coll_ring_buffers_open(coll_ring_buffers *buffers, uint32_t epoch) {
    char **box = &buffers->outboxes[epoch];
    if (!*box)
        *box = malloc(outbox_bytes(buffers));
    return *box;
}

void coll_ring_buffers_free(coll_ring_buffers *buffers, uint32_t last) {
    for (uint32_t epoch = 1; epoch <= last; epoch++)
        free(buffers->outboxes[epoch]);
}

int coll_ring_buffers_requests(const coll_ring_buffers *buffers, uint32_t epoch) {
    return (int)(outbox_requests(buffers, epoch + 1) - buffers->requests);
}

coll_segment_header *coll_ring_buffers_in(const coll_ring_buffers *buffers, size_t slot) {
    return (coll_segment_header *)(buffers->inbox + slot * message_size(buffers));
}

int coll_ring_buffers_await(coll_ring_buffers *buffers, size_t slot) {
    buffers->arrived[slot] = false;
    return coll_irecv(buffers->comm, coll_ring_buffers_in(buffers, slot),
                      (int)message_size(buffers), MPI_BYTE, MPI_ANY_SOURCE, buffers->tag,
                      &buffers->requests[COLL_RING_BUFFERS_INBOX + slot]);
}

int coll_ring_buffers_cancel(coll_ring_buffers *buffers) {
    int code = MPI_SUCCESS;
    for (size_t slot = 0; slot < buffers->window && code == MPI_SUCCESS; slot++) {
        MPI_Request *awaited = &buffers->requests[COLL_RING_BUFFERS_INBOX + slot];
        if (*awaited == MPI_REQUEST_NULL)
            continue;
        code = PMPI_Cancel(awaited);
        if (code == MPI_SUCCESS)
            code = PMPI_Wait(awaited, MPI_STATUS_IGNORE);
    }
    return code;
}

coll_segment_header *coll_ring_buffers_out(const coll_ring_buffers *buffers, uint32_t epoch,
                                           size_t slot) {
    return (coll_segment_header *)(buffers->outboxes[epoch] + slot * message_size(buffers));
}

int coll_ring_buffers_send(coll_ring_buffers *buffers, uint32_t epoch, size_t slot, int to) {
    coll_segment_header *message = coll_ring_buffers_out(buffers, epoch, slot);
    return coll_isend(buffers->comm, message, (int)coll_segment_header_bytes(message), MPI_BYTE, to,
                      buffers->tag, &outbox_requests(buffers, epoch)[slot]);
}

bool coll_ring_buffers_is_free(const coll_ring_buffers *buffers, uint32_t epoch, size_t slot) {
    return outbox_requests(buffers, epoch)[slot] == MPI_REQUEST_NULL;
}

bool coll_ring_buffers_have_left(const coll_ring_buffers *buffers, uint32_t epoch) {
    for (const MPI_Request *r = outbox_requests(buffers, 0); r < outbox_requests(buffers, epoch);
         r++)
        if (*r != MPI_REQUEST_NULL)
            return false;
    return true;
}

MPI_Request *coll_ring_buffers_sends(const coll_ring_buffers *buffers) {
    return outbox_requests(buffers, 0);
}
