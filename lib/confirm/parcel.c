#include "config.h"

#include "lib/confirm/parcel.h"

#include "lib/base/crc32c.h"

static uint32_t checksum(coll_parcel *parcel) {
    uint32_t head = coll_crc32c(0, parcel, offsetof(coll_parcel, checksum));
    return coll_crc32c(head, coll_parcel_payload(parcel), parcel->length);
}

void coll_parcel_seal(coll_parcel *parcel) {
    parcel->checksum = checksum(parcel);
}

bool coll_parcel_intact(coll_parcel *parcel, size_t capacity) {
    return parcel->length <= capacity && parcel->checksum == checksum(parcel);
}
