/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-kmeans predict: assigns points to given centroids. */
#ifndef COLL_KMEANS_KM_PREDICT_H
#define COLL_KMEANS_KM_PREDICT_H

/* The values of --metric. km_metric_name returns their names, and NULL after the last. */
enum { KM_EUCLIDEAN, KM_COSINE };
const char *km_metric_name(int number);

/* Runs the command, whose name is argv[0]. Returns the exit status. */
int km_predict_main(int argc, char **argv);

#endif
