/*
 * Where the messages of one rank's confirmed broadcast lie while they are on their way, and their
 * requests: an inbox, and for each epoch an outbox. An outbox has a slot for the message that
 * closes its epoch behind those for segments. The inbox is taken in the order in which it was
 * posted, which is the order in which any one rank's messages come.
 */
#ifndef COLL_LIB_CONFIRM_BOXES_H
#define COLL_LIB_CONFIRM_BOXES_H

#include "lib/base/comm.h"
#include "lib/confirm/message.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the requests the first are the caller's one, and the inbox's. */
enum { COLL_BOXES_OWN, COLL_BOXES_INBOX };

typedef struct coll_boxes {
    coll_comm *comm;
    int tag;        /* of messages */
    size_t segment; /* bytes of a message at most */
    size_t window;  /* slots for segments of a box */
    uint32_t epochs;

    MPI_Request *requests;
    char *inbox;
    bool *arrived; /* by slot */
    size_t head;   /* the slot of the inbox that was posted first */
    char **outboxes;
} coll_boxes;

/* The memory that BOXES need, whose first five members are set, and has the first outbox. */
size_t coll_boxes_bytes(const coll_boxes *boxes);

/* Cuts that off at *ROOM, which is moved on. No request is under way. */
void coll_boxes_furnish(coll_boxes *boxes, char **room);

/* Makes the outbox of EPOCH, if there is none. Error: MPI_ERR_NO_MEM. */
int coll_boxes_open(coll_boxes *boxes, uint32_t epoch);

/* Frees the outboxes of epochs up to LAST. */
void coll_boxes_free(coll_boxes *boxes, uint32_t last);

/* Requests up to those of the outbox of EPOCH. */
int coll_boxes_requests(const coll_boxes *boxes, uint32_t epoch);

/* The message that comes to SLOT of the inbox; and posts it. */
coll_message *coll_boxes_in(const coll_boxes *boxes, size_t slot);
int coll_boxes_await(coll_boxes *boxes, size_t slot);

/* Messages that are awaited don't come any more. */
int coll_boxes_cancel(coll_boxes *boxes);

/* The message in SLOT of an outbox, slot window being that which closes the epoch; and sends it to
 * rank TO. */
coll_message *coll_boxes_out(const coll_boxes *boxes, uint32_t epoch, size_t slot);
int coll_boxes_send(coll_boxes *boxes, uint32_t epoch, size_t slot, int to);

/* Whether what was sent from SLOT has left. */
bool coll_boxes_is_free(const coll_boxes *boxes, uint32_t epoch, size_t slot);

/* Whether all has left that epochs before EPOCH sent. */
bool coll_boxes_have_left(const coll_boxes *boxes, uint32_t epoch);

/* The requests of all outboxes, one behind the other. */
MPI_Request *coll_boxes_sends(const coll_boxes *boxes);

#endif
