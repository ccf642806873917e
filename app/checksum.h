/* CRC32C (Castagnoli), the checksum of iSCSI and ext4; by the processor where it can. */
#ifndef COLL_APP_CHECKSUM_H
#define COLL_APP_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what CHECKSUM stands for (0: nothing) followed by LENGTH bytes. */
uint32_t app_checksum(uint32_t checksum, const void *bytes, size_t length);

#endif
