/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/auth.h"

#include <string.h>
#include <sys/random.h>

int watch_auth_make_secret(watch_secret *secret) {
    return getrandom(secret, sizeof *secret, 0) == sizeof *secret;
}

uint64_t watch_auth_nonce(void) {
    uint64_t nonce;
    return getrandom(&nonce, sizeof nonce, 0) == sizeof nonce ? nonce : 0;
}

static uint64_t rotated_left(uint64_t word, int bits) {
    return word << bits | word >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int rounds) {
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotated_left(v[1], 13) ^ v[0];
        v[3] = rotated_left(v[3], 16) ^ v[2];
        v[0] = rotated_left(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotated_left(v[1], 17) ^ v[2];
        v[3] = rotated_left(v[3], 21) ^ v[0];
        v[2] = rotated_left(v[2], 32);
    }
}

static void absorb_word(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

uint64_t watch_auth_code(const watch_secret *secret, uint64_t seed, const void *data,
                         size_t length) {
    uint64_t v[4] = {0x736f6d6570736575 ^ secret->key[0], 0x646f72616e646f6d ^ secret->key[1],
                     0x6c7967656e657261 ^ secret->key[0], 0x7465646279746573 ^ secret->key[1]};
    const unsigned char *bytes = data;
    absorb_word(v, seed);
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        absorb_word(v, word);
    }
    uint64_t last = (uint64_t)length << 56;
    for (size_t i = 0; i < length; i++)
        last |= (uint64_t)bytes[i] << 8 * i;
    absorb_word(v, last);
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
