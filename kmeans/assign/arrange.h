/* The order in which points are assigned fastest. No MPI. */
#ifndef COLL_KMEANS_ASSIGN_ARRANGE_H
#define COLL_KMEANS_ASSIGN_ARRANGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts WHICH and GUESS, which belong together and are of N points: points come together whose
 * guesses, numbers of centroids, have PLACES near each other (km_centroids_places, of K), and which
 * are about as far from them, by DISTANCE, in the order that WHICH had. For a sieve (sieve.h)
 * leaves out a tile where it can for all points in it: those near each other, and those near their
 * centroids. Returns 0 or ENOMEM.
 */
int km_arrange(const uint32_t *places, size_t k, size_t n, size_t *which, uint32_t *guess,
               const uint32_t *distance);

#endif
