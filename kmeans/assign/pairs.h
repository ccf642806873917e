/* A kernel's multiply_pairs, where the file that includes this has defined multiply_pair for one.
 */
#ifndef COLL_KMEANS_ASSIGN_PAIRS_H
#define COLL_KMEANS_ASSIGN_PAIRS_H

static void multiply_pairs(const uint8_t *points, const uint8_t *centroids, size_t dim,
                           const km_pair *pairs, size_t n, int32_t *products) {
    for (size_t i = 0; i < n; i++)
        products[i] =
            multiply_pair(points + pairs[i].point * dim, centroids + pairs[i].centroid * dim, dim);
}

#endif
