/* What tells one set of points from another. */
#ifndef COLL_KMEANS_POINTS_FINGERPRINT_H
#define COLL_KMEANS_POINTS_FINGERPRINT_H

#include "kmeans/points/points.h"

/*
 * A number that depends on every bit and the order of the points, not on how they are spread over
 * ranks: the sum, modulo 2^64, of a mixture of each row's CRC32C and place. Collective; on false
 * all ranks have the same problem.
 */
bool km_fingerprint(const km_points *points, int threads, MPI_Comm comm, uint64_t *fingerprint,
                    app_problem *problem);

#endif
