/* A random choice of rows that depends on the seed and the number of rows alone. No MPI. */
#ifndef COLL_KMEANS_START_SAMPLE_H
#define COLL_KMEANS_START_SAMPLE_H

#include <stdint.h>

/*
 * The row that a random permutation of the rows 0 to TOTAL - 1, chosen by SEED, has at place INDEX
 * < TOTAL. The rows at the places 0 to k - 1 are thus a sample of k distinct ones, and any rank
 * can tell any of them alone.
 */
uint64_t km_sample_row(uint64_t seed, uint64_t total, uint64_t index);

#endif
