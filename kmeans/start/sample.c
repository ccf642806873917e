/*
 * A Feistel network permutes the numbers of an even count of bits, whatever its round function is;
 * walking on until the result is below TOTAL makes that a permutation of 0 to TOTAL - 1 (Black and
 * Rogaway, "Ciphers with arbitrary finite domains", 2002). The walk takes less than four steps on
 * average.
 */
#include "config.h"

#include "kmeans/start/sample.h"

#include "kmeans/points/random.h"

static uint64_t permute(uint64_t seed, unsigned half_bits, uint64_t value) {
    enum { ROUNDS = 6 };
    uint64_t mask = (UINT64_C(1) << half_bits) - 1, left = value >> half_bits, right = value & mask;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t key = km_mix(seed + round * 0x9e3779b97f4a7c15);
        uint64_t next = left ^ (km_mix(key + right) & mask);
        left = right;
        right = next;
    }
    return left << half_bits | right;
}

uint64_t km_sample_row(uint64_t seed, uint64_t total, uint64_t index) {
    unsigned half_bits = 1;
    while (half_bits < 32 && (total - 1) >> 2 * half_bits)
        half_bits++;
    do
        index = permute(seed, half_bits, index);
    while (index >= total);
    return index;
}
