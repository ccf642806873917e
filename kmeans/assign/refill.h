/* What becomes of clusters that no point chose. */
#ifndef COLL_KMEANS_ASSIGN_REFILL_H
#define COLL_KMEANS_ASSIGN_REFILL_H

#include "kmeans/points/points.h"

/*
 * Moves the centroid of each empty cluster onto a point. Equal points are one place; its weight is
 * the sum of their squared distances from their nearest centroid, which is what the objective falls
 * by, at least, when a centroid is put there. The empty clusters in ascending order take the
 * heaviest places, of equally heavy ones that with the lowest row first. Points of clusters with
 * one member and points that lie on their centroid are not taken; clusters for which no place is
 * left keep their centroids. Of more points than some million, the places are a sample that knows
 * nothing of ranks and threads either. No sum of squared distances rises, as no point had chosen
 * those centroids.
 *
 * NEAREST and DISTANCE2 are those of this rank's points; COUNTS and CENTROIDS, of K clusters, are
 * read and changed at rank 0 alone. *REFILLED, on all ranks, is how many were moved. Collective,
 * also for ranks that have a problem already; on false all ranks have the same problem.
 */
bool km_refill(const km_points *points, const uint32_t *nearest, const uint32_t *distance2,
               const uint64_t *counts, size_t k, uint8_t *centroids, int threads, MPI_Comm comm,
               uint64_t *refilled, app_problem *problem);

#endif
