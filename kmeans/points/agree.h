/* Problems among ranks: those of MPI as text, and how all ranks learn of one. */
#ifndef COLL_KMEANS_POINTS_AGREE_H
#define COLL_KMEANS_POINTS_AGREE_H

#include "app/problem.h"

#include <mpi.h>
#include <stdint.h>

/* True for MPI_SUCCESS; otherwise sets the problem to the text of the error and returns false. */
bool km_mpi(struct problem *problem, int code);

/*
 * True on all ranks when none has a problem (an empty text is none: start from {""}). Otherwise
 * false, with the problem of the lowest rank that has one now on all ranks, so that they leave
 * alike. Collective.
 */
bool km_agree(struct problem *problem, MPI_Comm comm);

/*
 * The same, which in the same message adds up the COUNT VALUES of all ranks, or takes the largest
 * of each: on all ranks; meaningless on false. COUNT is KM_AGREE_MOST at most.
 */
enum { KM_AGREE_MOST = 8 };
bool km_agree_sum(struct problem *problem, uint64_t *values, int count, MPI_Comm comm);
bool km_agree_most(struct problem *problem, double *values, int count, MPI_Comm comm);

#endif
