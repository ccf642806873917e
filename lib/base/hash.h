/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes: FNV-1a with 64 bits. */
#ifndef COLL_LIB_BASE_HASH_H
#define COLL_LIB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of no data. */
static const uint64_t COLL_HASH_NOTHING = UINT64_C(0xcbf29ce484222325);

/* Extends HASH by BYTES of DATA and returns the hash of the whole. */
static inline uint64_t coll_hash(uint64_t hash, const void *data, size_t bytes) {
    for (const unsigned char *byte = data; bytes-- > 0; byte++)
        hash = (hash ^ *byte) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
