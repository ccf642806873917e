/* What the methods of choosing centroids share: weighted draws of rows, and rows for all ranks. */
#ifndef COLL_KMEANS_START_DRAW_H
#define COLL_KMEANS_START_DRAW_H

#include "kmeans/points/points.h"

/* Says at rank 0, if a line is due, that DONE of ALL parts of the start METHOD are done. */
void km_draw_report(const char *method, uint64_t done, uint64_t all, MPI_Comm comm);

/* The sum of WEIGHTS, of this rank's points, over all ranks. Collective, as all here; agrees. */
bool km_draw_total(const km_points *points, const uint64_t *weights, uint64_t *total, MPI_Comm comm,
                   app_problem *problem);

/*
 * Lays the weights of all points one after the other, and finds the rows at COUNT ascending PLACES
 * in that line, all below its length. ROWS come to all ranks.
 */
bool km_draw_rows(const km_points *points, const uint64_t *weights, const uint64_t *places,
                  size_t count, uint64_t *rows, MPI_Comm comm, app_problem *problem);

/* Copies row ROW, of whatever rank, to INTO on all ranks. */
bool km_draw_fetch(const km_points *points, uint64_t row, uint8_t *into, MPI_Comm comm,
                   app_problem *problem);

/*
 * Lowers NEAREST2, the squared distance of each of COUNT rows like those of POINTS, to that of
 * CENTROID (km_rows_distance2). Local.
 */
void km_draw_lower(const km_points *points, const uint8_t *rows, size_t count,
                   const uint8_t *centroid, int threads, uint32_t *nearest2);

/*
 * What a squared distance weighs in a draw: itself; of real features its units (km_real_unit), so
 * that the weights of all points fit 63 bits together, and are the same however they are added up.
 * Finds UNIT for the squared distances DISTANCE2 of this rank's points, 0 where features are bytes.
 * Collective; on false all ranks have the same problem.
 */
bool km_draw_unit(const km_points *points, const uint32_t *distance2, MPI_Comm comm, double *unit,
                  app_problem *problem);

/*
 * k-means++ on POINTS of which each of this rank's stands for WEIGHTS of them (NULL: itself).
 * CENTROIDS come to all ranks. See start_plus_plus.c.
 */
bool km_plus_plus(const km_points *points, const uint64_t *weights, size_t k, uint64_t seed,
                  int threads, uint8_t *centroids, MPI_Comm comm, app_problem *problem);

#endif
