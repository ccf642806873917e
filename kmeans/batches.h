/*
 * K-means in a hurry: first on a random part of the points, then on twice as many, and so on, and
 * in the end on all of them. While centroids are far from where they will be, few points tell as
 * much as many.
 */
#ifndef COLL_KMEANS_BATCHES_H
#define COLL_KMEANS_BATCHES_H

#include "kmeans/kmeans.h"

typedef struct km_batches {
    uint64_t size;          /* of the first batch; 0 for none */
    uint64_t quality_every; /* tell the objective over all points after so many batches; 0: never */
} km_batches;

/*
 * Clusters POINTS by batches: the first of about BATCHES->size points, each next one of twice as
 * many, with all of those before among them, as long as that is less than all. Iterations on a
 * batch end when the objective falls by no more than the share k / points of itself, which is what
 * the batch tells too little of: the means of another one of that size would be off by about that.
 * Then km_cluster takes all points, from the centroids found, with the iterations and stops of
 * SETTINGS.
 *
 * A point's batches are a function of its row and the seed, so the result is the same bits for any
 * number of ranks and threads. A batch is a copy: of half the points at most. There are no
 * checkpoints on the way: SETTINGS must ask for none. Collective; on false all ranks have the same
 * problem. The caller frees RESULT with km_result_free.
 *
 * Source: Newling and Fleuret, "Nested mini-batch k-means", NIPS 2016, without its bounds; after
 * Sculley, "Web-scale k-means clustering", WWW 2010.
 */
bool km_cluster_batches(const km_points *points, const km_batches *batches,
                        const km_settings *settings, const km_observer *observer, MPI_Comm comm,
                        km_result *result, app_problem *problem);

#endif
