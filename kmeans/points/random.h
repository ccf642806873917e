/*
 * Random numbers that are functions of what they are for, so that every rank can tell any of them
 * alone and the result doesn't depend on ranks, threads or interruptions. No MPI.
 */
#ifndef COLL_KMEANS_POINTS_RANDOM_H
#define COLL_KMEANS_POINTS_RANDOM_H

#include <stdint.h>

/* A bijection of 64 bits that leaves nothing of their order. */
uint64_t km_mix(uint64_t value);

/* The number with INDEX in the sequence STREAM of SEED. */
uint64_t km_random(uint64_t seed, uint64_t stream, uint64_t index);

/* The same, evenly among 0 to BELOW - 1; BELOW > 0. */
uint64_t km_random_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t below);

#endif
