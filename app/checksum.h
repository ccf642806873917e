/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC32C (Castagnoli), the checksum of iSCSI and ext4; uses the processor's instruction if it has
 * one.
 */
#ifndef COLL_APP_CHECKSUM_H
#define COLL_APP_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Returns CHECKSUM extended by LENGTH bytes; start with 0. */
uint32_t app_checksum(uint32_t checksum, const void *bytes, size_t length);

#endif
