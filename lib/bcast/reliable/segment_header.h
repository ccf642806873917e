/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A segment of a confirmed broadcast as it is sent. Its numbers identify late segments of earlier
 * attempts; its checksum, computed by the root, reveals damage.
 */
#ifndef COLL_LIB_BCAST_RELIABLE_SEGMENT_HEADER_H
#define COLL_LIB_BCAST_RELIABLE_SEGMENT_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Header of a message; the payload follows it. The checksum covers the other members and the
 * payload. */
typedef struct coll_segment_header {
    uint32_t sequence; /* number of the broadcast on its communicator */
    uint32_t epoch;    /* number of the attempt */
    uint64_t index;    /* number of the segment, or COLL_SEGMENT_HEADER_END */
    uint32_t length;   /* bytes of payload */
    uint32_t checksum;
} coll_segment_header;

/*
 * Index of the message without payload that ends an epoch: its sender sends nothing more of that
 * epoch.
 */
#define COLL_SEGMENT_HEADER_END UINT64_MAX

static inline char *coll_segment_header_payload(coll_segment_header *message) {
    return (char *)(message + 1);
}

static inline size_t coll_segment_header_bytes(const coll_segment_header *message) {
    return sizeof *message + message->length;
}

/* Sets MESSAGE's checksum. */
void coll_segment_header_seal(coll_segment_header *message);

/* Returns whether MESSAGE, in memory for CAPACITY bytes of payload, matches its checksum. */
bool coll_segment_header_intact(coll_segment_header *message, size_t capacity);

#endif
