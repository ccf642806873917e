/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/checksum.h"

#include "lib/base/crc32c.h"

uint32_t app_checksum(uint32_t checksum, const void *bytes, size_t length) {
    return coll_crc32c(checksum, bytes, length);
}
