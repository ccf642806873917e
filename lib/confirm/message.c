#include "config.h"

#include "lib/confirm/message.h"

#include "lib/base/crc32c.h"

static uint32_t compute_checksum(coll_message *message) {
    uint32_t head = coll_crc32c(0, message, offsetof(coll_message, checksum));
    return coll_crc32c(head, coll_message_payload(message), message->length);
}

void coll_message_seal(coll_message *message) {
    message->checksum = compute_checksum(message);
}

bool coll_message_intact(coll_message *message, size_t capacity) {
    return message->length <= capacity && message->checksum == compute_checksum(message);
}
