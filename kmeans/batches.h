/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faster k-means: first on a random part of the points, then on twice as many, and so on, finally
 * on all points. While the centroids are far from their final places, a small sample of points
 * improves them about as much as all points do.
 */
#ifndef COLL_KMEANS_BATCHES_H
#define COLL_KMEANS_BATCHES_H

#include "kmeans/kmeans.h"

typedef struct km_batches {
    uint64_t size;          /* points of the first batch, roughly; not 0 for km_cluster_batches */
    uint64_t quality_every; /* report the objective over all points every this many batches; 0:
                               never */
} km_batches;

/*
 * Clusters POINTS in batches. The first batch has about BATCHES->size points; each further batch
 * has about twice as many, among them all points of the batch before. There are batches as long as
 * their size is below the number of all points. The iterations on a batch end when an iteration
 * lowers the objective by no more than the share k / (points of the batch), when no centroid moves
 * any more, after 100 iterations, or when the time limit of SETTINGS is reached. A smaller gain
 * would mean nothing: the means of another batch of that size would differ by about that much. A
 * batch with fewer than k points, or without weight, is skipped. Then km_cluster runs on all
 * points, from the centroids found, with the iterations and stopping rules of SETTINGS.
 *
 * Which batches a point is in depends on its row and the seed only, so the result has the same bits
 * for any number of ranks and threads. The points of a batch are copied; the last batch may have
 * almost all points. Batches have no checkpoints: SETTINGS must not ask for any. Collective; on
 * false all ranks have the same problem and RESULT may be unset. On true the caller frees RESULT
 * with km_result_free.
 *
 * Source: Newling and Fleuret, "Nested mini-batch k-means", NIPS 2016, without its bounds; after
 * Sculley, "Web-scale k-means clustering", WWW 2010.
 */
bool km_cluster_batches(const km_points *points, const km_batches *batches,
                        const km_settings *settings, const km_observer *observer, MPI_Comm comm,
                        km_result *result, app_problem *problem);

#endif
