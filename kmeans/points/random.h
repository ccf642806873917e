/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random numbers that are functions of a seed and of what they are used for, so that every rank can
 * compute any of them alone and results don't depend on ranks, threads or interruptions. No MPI.
 */
#ifndef COLL_KMEANS_POINTS_RANDOM_H
#define COLL_KMEANS_POINTS_RANDOM_H

#include <stdint.h>

/* Returns a bijective mix of VALUE. The mixes of neighbouring values look unrelated. */
uint64_t km_mix(uint64_t value);

/* Returns random number INDEX of the sequence STREAM of SEED. */
uint64_t km_random(uint64_t seed, uint64_t stream, uint64_t index);

/* Does the same, uniformly distributed over 0 to BELOW - 1; BELOW > 0. */
uint64_t km_random_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t below);

/*
 * Returns element INDEX < TOTAL of a random permutation, chosen by SEED, of the rows 0 to TOTAL -
 * 1. Elements 0 to k - 1 are thus a sample of k distinct rows, and any rank can compute each of
 * them alone.
 */
uint64_t km_sample_row(uint64_t seed, uint64_t total, uint64_t index);

#endif
