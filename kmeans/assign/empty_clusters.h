/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves empty clusters onto points. */
#ifndef COLL_KMEANS_ASSIGN_EMPTY_CLUSTERS_H
#define COLL_KMEANS_ASSIGN_EMPTY_CLUSTERS_H

#include "kmeans/points/points.h"

/* This rank's points, and the clusters that they are in. */
typedef struct km_refill {
    const km_points *points;             /* this rank's */
    const uint32_t *nearest, *distance2; /* for each of these points */
    const uint64_t *counts;              /* of the K clusters; significant at rank 0 only */
    size_t k;
    uint8_t *centroids; /* read and changed at rank 0 only */
    int threads;
    MPI_Comm comm;
} km_refill;

/*
 * Moves the centroid of each empty cluster onto a point. Equal points are one place, whose weight
 * is the weighted sum of their squared distances from their nearest centroid: the objective falls
 * by at least that much when a centroid is put there. The empty clusters, in ascending order, get
 * the heaviest places; among equally heavy places, the one with the lowest row comes first. Points
 * of clusters with one member (or with the weight of one unit) and points that coincide with their
 * centroid are not used. Clusters for which no place is left keep their centroids. If there are
 * more than 65,536 points, and more than 16 for each empty cluster, only a sample of the places is
 * considered. If the sample has fewer than 4,096 places, or fewer than there are empty clusters, a
 * larger sample is taken. The sample does not depend on the numbers of ranks and threads. The
 * objective never rises because the moved centroids were not the nearest of any point.
 *
 * Sets *REFILLED on all ranks to the number of moved centroids. Collective, also for ranks that
 * already have a problem; on false all ranks have the same problem.
 */
bool km_refill_empty_clusters(const km_refill *in, uint64_t *refilled, app_problem *problem);

#endif
