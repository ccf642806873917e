/*
 * A segment of a confirmed broadcast as it is sent. Its numbers identify late segments of earlier
 * attempts; its checksum, computed by the root, reveals damage.
 */
#ifndef COLL_LIB_CONFIRM_MESSAGE_H
#define COLL_LIB_CONFIRM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Header of a message; the payload follows it. The checksum covers everything else. */
typedef struct coll_message {
    uint32_t sequence; /* number of the broadcast on its communicator */
    uint32_t epoch;    /* number of the attempt */
    uint64_t index;    /* number of the segment, or COLL_MESSAGE_END */
    uint32_t length;   /* bytes of payload */
    uint32_t checksum;
} coll_message;

/*
 * Index of the message without payload that ends an epoch: its sender sends nothing more of that
 * epoch.
 */
#define COLL_MESSAGE_END UINT64_MAX

static inline char *coll_message_payload(coll_message *message) {
    return (char *)(message + 1);
}

static inline size_t coll_message_bytes(const coll_message *message) {
    return sizeof *message + message->length;
}

/* Sets MESSAGE's checksum. */
void coll_message_seal(coll_message *message);

/* Returns whether MESSAGE, in memory for CAPACITY bytes of payload, matches its checksum. */
bool coll_message_intact(coll_message *message, size_t capacity);

#endif
