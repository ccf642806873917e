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
    /* Past the last whole multiple of BELOW some remainders would come more often than others. */
    uint64_t limit = UINT64_MAX - (UINT64_MAX % below + 1) % below;
    while (value > limit)
        value = km_mix(value + 1);
    return value % below;
}
