/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/bcast/reliable/control_msg.h"

#include "lib/base/error.h"
#include "lib/base/reserve_alloc.h"

#include <stdbool.h>
#include <string.h>

/*
 * Moves COUNT elements of SIZE bytes from OLD to new memory for CAPACITY elements and frees OLD.
 * Returns NULL if out of memory, leaving OLD as it is.
 */
static void *reallocate(void *old, size_t size, int count, size_t capacity) {
    void *more = coll_reserve_alloc(capacity * size);
    if (!more)
        return NULL;
    if (count)
        memcpy(more, old, (size_t)count * size);
    coll_reserve_free(old);
    return more;
}

static bool make_room(coll_control_msgs *notes) {
    if (notes->count < notes->capacity)
        return true;
    size_t capacity = notes->capacity ? 2 * (size_t)notes->capacity : 16;
    MPI_Request *requests = reallocate(notes->requests, sizeof *requests, notes->count, capacity);
    if (requests)
        notes->requests = requests;
    coll_sent_control_msg **messages =
        reallocate(notes->messages, sizeof *messages, notes->count, capacity);
    if (messages)
        notes->messages = messages;
    if (!requests || !messages)
        return false;
    notes->capacity = (int)capacity;
    return true;
}

int coll_control_msgs_send(coll_control_msgs *notes, const coll_control_msg *note, int to) {
    coll_sent_control_msg *message = coll_reserve_alloc(sizeof *message);
    if (!message || !make_room(notes)) {
        coll_reserve_free(message);
        return coll_error(MPI_ERR_NO_MEM, "no memory for a note to rank %d", to);
    }
    *message = (coll_sent_control_msg){*note, to};
    int code = coll_isend(notes->comm, &message->note, (int)sizeof message->note, MPI_BYTE, to,
                          notes->tag, &notes->requests[notes->count]);
    if (code == MPI_SUCCESS)
        notes->messages[notes->count++] = message;
    else
        coll_reserve_free(message);
    return code;
}

int coll_control_msgs_sweep(coll_control_msgs *notes) {
    int kept = 0, code = MPI_SUCCESS;
    for (int i = 0; i < notes->count; i++) {
        int done = 0;
        if (code == MPI_SUCCESS)
            code = PMPI_Test(&notes->requests[i], &done, MPI_STATUS_IGNORE);
        if (done) {
            coll_reserve_free(notes->messages[i]);
            continue;
        }
        notes->requests[kept] = notes->requests[i];
        notes->messages[kept++] = notes->messages[i];
    }
    notes->count = kept;
    return code;
}

int coll_control_msgs_flush(coll_control_msgs *notes, coll_wait *wait, double seconds) {
    for (;;) {
        int code = coll_control_msgs_sweep(notes);
        if (code != MPI_SUCCESS || notes->count == 0)
            return code;
        int i;
        code = coll_wait_any_for(wait, seconds, notes->count, notes->requests, &i);
        if (code != MPI_SUCCESS || i == MPI_UNDEFINED)
            return code;
    }
}

void coll_control_msgs_free(coll_control_msgs *notes) {
    coll_reserve_free(notes->requests);
    coll_reserve_free(notes->messages);
    *notes = (coll_control_msgs){0};
}
