/* CRC32C (Castagnoli), the checksum of iSCSI and ext4; by the processor where it can. */
#ifndef COLL_LIB_BASE_CRC32C_H
#define COLL_LIB_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what CHECKSUM stands for (0: nothing) followed by LENGTH bytes. */
uint32_t coll_crc32c(uint32_t checksum, const void *bytes, size_t length);

/* The same without the processor's help. */
uint32_t coll_crc32c_by_table(uint32_t checksum, const void *bytes, size_t length);

#endif
