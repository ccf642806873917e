/*
 * A segment of a broadcast under way: numbered, so that one of an earlier try is known when it
 * comes late, and with a checksum from where it began, so that it is known when it comes damaged.
 */
#ifndef COLL_LIB_CONFIRM_MESSAGE_H
#define COLL_LIB_CONFIRM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a message begins with; the payload follows. The checksum is over all the rest. */
typedef struct coll_message {
    uint32_t sequence; /* which broadcast of the communicator */
    uint32_t epoch;    /* which try of it */
    uint64_t index;    /* which segment, or COLL_MESSAGE_END */
    uint32_t length;   /* bytes of payload */
    uint32_t checksum;
} coll_message;

/* The index of the message, without payload, that says that no more of its epoch follow. */
#define COLL_MESSAGE_END UINT64_MAX

static inline char *coll_message_payload(coll_message *message) {
    return (char *)(message + 1);
}

static inline size_t coll_message_bytes(const coll_message *message) {
    return sizeof *message + message->length;
}

/* Fills in the checksum. */
void coll_message_seal(coll_message *message);

/* Whether MESSAGE, in memory for CAPACITY bytes of payload, is as it was sealed. */
bool coll_message_intact(coll_message *message, size_t capacity);

#endif
