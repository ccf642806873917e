/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/bcast/reliable/segment_header.h"

#include "lib/base/crc32c.h"

static uint32_t compute_checksum(coll_segment_header *message) {
    uint32_t head = coll_crc32c(0, message, offsetof(coll_segment_header, checksum));
    return coll_crc32c(head, coll_segment_header_payload(message), message->length);
}

void coll_segment_header_seal(coll_segment_header *message) {
    message->checksum = compute_checksum(message);
}

bool coll_segment_header_intact(coll_segment_header *message, size_t capacity) {
    return message->length <= capacity && message->checksum == compute_checksum(message);
}
