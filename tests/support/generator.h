/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers for tests with random programs: splitmix64. */
#ifndef COLL_TESTS_SUPPORT_GENERATOR_H
#define COLL_TESTS_SUPPORT_GENERATOR_H

#include <stdint.h>

typedef struct generator {
    uint64_t state;
} generator;

static inline uint64_t draw(generator *g) {
    g->state += 0x9e3779b97f4a7c15u;
    uint64_t z = g->state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline int below(generator *g, int bound) {
    return (int)(draw(g) % (uint64_t)bound);
}

/* Returns a random number from LOW to HIGH, both included. */
static inline int between(generator *g, int low, int high) {
    return low + below(g, high - low + 1);
}

#endif
