/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/crc32c.h"

#include <pthread.h>
#include <string.h>

/* The remainder of each byte followed by 32 zero bits, all bits reflected. */
static uint32_t remainders[256];

static void fill_remainders(void) {
    const uint32_t polynomial = 0x82f63b78; /* reflected */
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t remainder = byte;
        for (int bit = 0; bit < 8; bit++)
            remainder = remainder >> 1 ^ (remainder & 1 ? polynomial : 0);
        remainders[byte] = remainder;
    }
}

uint32_t coll_crc32c_by_table(uint32_t checksum, const void *bytes, size_t length) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const unsigned char *next = bytes;
    uint32_t state = ~checksum;
    pthread_once(&once, fill_remainders);
    for (size_t i = 0; i < length; i++)
        state = state >> 8 ^ remainders[(state ^ next[i]) & 0xff];
    return ~state;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t
crc32c_by_instruction(uint32_t checksum, const unsigned char *next, size_t length) {
    uint64_t state = (uint32_t)~checksum;
    for (; length >= sizeof(uint64_t); length -= sizeof(uint64_t), next += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, next, sizeof word);
        state = __builtin_ia32_crc32di(state, word);
    }
    for (; length > 0; length--, next++)
        state = __builtin_ia32_crc32qi((uint32_t)state, *next);
    return ~(uint32_t)state;
}

uint32_t coll_crc32c(uint32_t checksum, const void *bytes, size_t length) {
    return __builtin_cpu_supports("sse4.2") ? crc32c_by_instruction(checksum, bytes, length)
                                            : coll_crc32c_by_table(checksum, bytes, length);
}
#else
uint32_t coll_crc32c(uint32_t checksum, const void *bytes, size_t length) {
    return coll_crc32c_by_table(checksum, bytes, length);
}
#endif
