/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32C (Castagnoli), the checksum of iSCSI and ext4; computed with SSE 4.2 where available. */
#ifndef COLL_LIB_BASE_CRC32C_H
#define COLL_LIB_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Extends CHECKSUM (0 for no data) by LENGTH bytes and returns the checksum of the whole. */
uint32_t coll_crc32c(uint32_t checksum, const void *bytes, size_t length);

/* Does the same with a table, on any processor. */
uint32_t coll_crc32c_by_table(uint32_t checksum, const void *bytes, size_t length);

#endif
