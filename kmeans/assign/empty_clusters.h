/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves empty clusters onto points. */
#ifndef COLL_KMEANS_ASSIGN_EMPTY_CLUSTERS_H
#define COLL_KMEANS_ASSIGN_EMPTY_CLUSTERS_H

#include "kmeans/points/points.h"

/*
 * Moves the centroid of each empty cluster onto a point. Equal points are one place, whose weight
 * is the weighted sum of their squared distances from their nearest centroid: the objective falls
 * by at least that much when a centroid is put there. The empty clusters, in ascending order, get
 * the heaviest places; among equally heavy places, the one with the lowest row comes first. Points
 * of clusters with one member (or with the weight of one unit) and points that coincide with their
 * centroid are not used. Clusters for which no place is left keep their centroids. If there are
 * more than some million points, only a sample of the places is considered, which does not depend
 * on the numbers of ranks and threads. The objective never rises because no point had chosen the
 * moved centroids.
 *
 * NEAREST and DISTANCE2 are those of this rank's points. COUNTS and CENTROIDS, of K clusters, are
 * read and changed at rank 0 only. *REFILLED becomes the number of moved centroids on all ranks.
 * Collective, also for ranks that already have a problem; on false all ranks have the same problem.
 */
bool km_refill_empty_clusters(const km_points *points, const uint32_t *nearest,
                              const uint32_t *distance2, const uint64_t *counts, size_t k,
                              uint8_t *centroids, int threads, MPI_Comm comm, uint64_t *refilled,
                              app_problem *problem);

#endif
