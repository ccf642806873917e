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

static bool make_room(coll_control_msgs *msgs) {
    if (msgs->count < msgs->capacity)
        return true;
    size_t capacity = msgs->capacity ? 2 * (size_t)msgs->capacity : 16;
    MPI_Request *requests = reallocate(msgs->requests, sizeof *requests, msgs->count, capacity);
    if (requests)
        msgs->requests = requests;
    coll_sent_control_msg **messages =
        reallocate(msgs->messages, sizeof *messages, msgs->count, capacity);
    if (messages)
        msgs->messages = messages;
    if (!requests || !messages)
        return false;
    msgs->capacity = (int)capacity;
    return true;
}

int coll_control_msgs_send(coll_control_msgs *msgs, const coll_control_msg *msg, int to) {
    coll_sent_control_msg *message = coll_reserve_alloc(sizeof *message);
    if (!message || !make_room(msgs)) {
        coll_reserve_free(message);
        return coll_error(MPI_ERR_NO_MEM, "no memory for a control message to rank %d", to);
    }
    *message = (coll_sent_control_msg){*msg, to};
    int code = coll_isend(msgs->comm, &message->msg, (int)sizeof message->msg, MPI_BYTE, to,
                          msgs->tag, &msgs->requests[msgs->count]);
    if (code == MPI_SUCCESS)
        msgs->messages[msgs->count++] = message;
    else
        coll_reserve_free(message);
    return code;
}

int coll_control_msgs_sweep(coll_control_msgs *msgs) {
    int kept = 0, code = MPI_SUCCESS;
    for (int i = 0; i < msgs->count; i++) {
        int done = 0;
        if (code == MPI_SUCCESS)
            code = PMPI_Test(&msgs->requests[i], &done, MPI_STATUS_IGNORE);
        if (done) {
            coll_reserve_free(msgs->messages[i]);
            continue;
        }
        msgs->requests[kept] = msgs->requests[i];
        msgs->messages[kept++] = msgs->messages[i];
    }
    msgs->count = kept;
    return code;
}

int coll_control_msgs_flush(coll_control_msgs *msgs, coll_wait *wait, double seconds) {
    for (;;) {
        int code = coll_control_msgs_sweep(msgs);
        if (code != MPI_SUCCESS || msgs->count == 0)
            return code;
        int i;
        code = coll_wait_any_for(wait, seconds, msgs->count, msgs->requests, &i);
        if (code != MPI_SUCCESS || i == MPI_UNDEFINED)
            return code;
    }
}

void coll_control_msgs_free(coll_control_msgs *msgs) {
    coll_reserve_free(msgs->requests);
    coll_reserve_free(msgs->messages);
    *msgs = (coll_control_msgs){0};
}
