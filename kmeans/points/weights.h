/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weights of points. A weight is kept as an integer multiple of one power of two, so that weighted
 * sums don't depend on the order of addition. Weights that are whole numbers are kept exactly if
 * their sum allows it; then a point of weight 3 counts like three equal points. Other weights are
 * rounded, by at most some 2^-37 of the sum of all weights (more if there are more than 500
 * features: all sums must fit 63 bits).
 */
#ifndef COLL_KMEANS_POINTS_WEIGHTS_H
#define COLL_KMEANS_POINTS_WEIGHTS_H

#include "kmeans/points/points.h"

/* Returns whether WEIGHT is allowed: a finite number that is not negative. */
bool km_is_weight(double weight);

/*
 * Gives the points of all ranks weights. WEIGHTS are the weights of this rank's points, all of them
 * allowed (km_is_weight); if WEIGHTS is NULL, each is 1. At least one weight of all ranks must be
 * positive. NAME is the name of the weights in messages. Collective; on false all ranks have the
 * same problem.
 */
bool km_points_set_weights(km_points *points, const double *weights, const char *name,
                           MPI_Comm comm, app_problem *problem);

/*
 * Reads the weights of all points, in their order, from the .npy file at PATH, an array of one
 * dimension, and sets them. Collective; on false all ranks have the same problem.
 */
bool km_points_read_weights(km_points *points, const char *path, MPI_Comm comm,
                            app_problem *problem);

#endif
