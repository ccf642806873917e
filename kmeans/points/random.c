/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/points/random.h"

/* The mixing function of splitmix64 (Steele, Lea and Flood, 2014). */
uint64_t km_mix(uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

uint64_t km_random(uint64_t seed, uint64_t stream, uint64_t index) {
    const uint64_t step = 0x9e3779b97f4a7c15;
    return km_mix(km_mix(km_mix(seed + step) + stream * step) + index * step);
}

uint64_t km_random_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t below) {
    uint64_t value = km_random(seed, stream, index);
    /*
     * Above the last whole multiple of BELOW, some remainders would be more frequent than others.
     */
    uint64_t limit = UINT64_MAX - (UINT64_MAX % below + 1) % below;
    while (value > limit)
        value = km_mix(value + 1);
    return value % below;
}

/*
 * A Feistel network permutes the numbers of an even count of bits, whatever its round function is.
 * Repeating it until the result is below TOTAL makes it a permutation of 0 to TOTAL - 1 (Black and
 * Rogaway, "Ciphers with arbitrary finite domains", 2002), in less than four repetitions on
 * average.
 */
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
