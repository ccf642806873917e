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

/*
 * The row that a random permutation of the rows 0 to TOTAL - 1, chosen by SEED, has at place INDEX
 * < TOTAL. The rows at the places 0 to k - 1 are thus a sample of k distinct ones, and any rank
 * can tell any of them alone.
 */
uint64_t km_sample_row(uint64_t seed, uint64_t total, uint64_t index);

#endif
