/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the methods of choosing centroids: draws rows with given weights and distributes rows.
 */
#ifndef COLL_KMEANS_INIT_DRAW_H
#define COLL_KMEANS_INIT_DRAW_H

#include "kmeans/init/init.h"

/* Prints a progress line at rank 0, if one is due: METHOD, and the share DONE / ALL in percent. */
void km_draw_report(const char *method, uint64_t done, uint64_t all, MPI_Comm comm);

/*
 * Sets *TOTAL to the sum over all ranks of WEIGHTS, the weights of this rank's points. Like all
 * functions below, this one is collective unless stated otherwise, and on false all ranks have the
 * same problem.
 */
bool km_draw_total(const km_points *points, const uint64_t *weights, uint64_t *total, MPI_Comm comm,
                   app_problem *problem);

/*
 * Treats the weights of all points, in the order of rows, as consecutive intervals and finds the
 * rows whose intervals contain the COUNT ascending PLACES, all below the total weight. All ranks
 * get ROWS.
 */
bool km_draw_rows(const km_points *points, const uint64_t *weights, const uint64_t *places,
                  size_t count, uint64_t *rows, MPI_Comm comm, app_problem *problem);

/*
 * Draws the first centroid: the first row of the random start, or, if POINTS have weights, a row
 * drawn in proportion to them. All ranks get ROW.
 */
bool km_draw_first(const km_points *points, uint64_t seed, uint64_t *row, MPI_Comm comm,
                   app_problem *problem);

/* Copies row ROW, whichever rank has it, to INTO on all ranks. */
bool km_draw_fetch(const km_points *points, uint64_t row, uint8_t *into, MPI_Comm comm,
                   app_problem *problem);

/*
 * Lowers NEAREST2[i], the squared distance (km_rows_distance2) between row i of COUNT ROWS and its
 * nearest centroid, if CENTROID is nearer. ROWS have the form of the rows of POINTS. Not
 * collective.
 */
void km_draw_lower(const km_points *points, const uint8_t *rows, size_t count,
                   const uint8_t *centroid, int threads, uint32_t *nearest2);

/*
 * Sets *UNIT to the factor with which km_real_to_units turns squared distances into the integer
 * weights of a draw. For bytes, the factor is 0, and a weight is the squared distance itself. For
 * real features, it is such that the weights of all points add up to less than 2^63; as integers,
 * they have the same sum in any order of addition. DISTANCE2 are the squared distances of this
 * rank's points.
 */
bool km_draw_unit(const km_points *points, const uint32_t *distance2, MPI_Comm comm, double *unit,
                  app_problem *problem);

/*
 * Runs k-means++ on the points of SEEDING; point i of this rank counts as WEIGHTS[i] equal points
 * (as one if WEIGHTS is NULL). All ranks get CENTROIDS. See kmeans_plus_plus.c.
 */
bool km_plus_plus(const km_seeding *seeding, const uint64_t *weights, uint8_t *centroids,
                  app_problem *problem);

#endif
