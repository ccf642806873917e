/* Writing what K-means found, as .npy files at rank 0. */
#ifndef COLL_KMEANS_RESULT_H
#define COLL_KMEANS_RESULT_H

#include "kmeans/kmeans.h"

/*
 * Writes the K centroids of RESULT (uint8, or float32 where the features are real, k x dim) and the
 * clusters of all points in their order (int32) to the two paths; neither file gets its name before
 * both are whole. Collective; on false all ranks have the same problem.
 */
bool km_write_result(const km_result *result, const km_points *points, size_t k,
                     const char *centroids_path, const char *assign_path, MPI_Comm comm,
                     app_problem *problem);

#endif
