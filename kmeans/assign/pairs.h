/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defines the multiply_rows of a kernel. The including file first defines multiply_pair, which
 * computes one product.
 */
#ifndef COLL_KMEANS_ASSIGN_PAIRS_H
#define COLL_KMEANS_ASSIGN_PAIRS_H

static void multiply_rows(const uint8_t *const *points, const uint8_t *const *centroids, size_t dim,
                          size_t n, int32_t *products) {
    for (size_t i = 0; i < n; i++)
        products[i] = multiply_pair(points[i], centroids[i], dim);
}

#endif
