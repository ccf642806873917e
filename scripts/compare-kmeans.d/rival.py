# SPDX-License-Identifier: BSD-3-Clause
"""Runs one clustering by FAISS or scikit-learn: rival.py SYSTEM POINTS START ITERATIONS THREADS OUTPUT

Prints the seconds of the iterations and the final assignment, and writes the centroids.
"""

import sys
import time

import numpy as np


def cluster_by_faiss(points, start, iterations, threads):
    import faiss

    faiss.omp_set_num_threads(threads)
    k, dim = start.shape
    kmeans = faiss.Kmeans(
        dim, k, niter=iterations, min_points_per_centroid=1, max_points_per_centroid=len(points)
    )
    begin = time.monotonic()
    kmeans.train(points, init_centroids=start)
    kmeans.index.search(points, 1)
    return time.monotonic() - begin, kmeans.centroids


def cluster_by_sklearn(points, start, iterations, threads):
    import warnings

    from sklearn.cluster import KMeans

    warnings.simplefilter("ignore")  # it warns if it has not converged
    kmeans = KMeans(
        len(start), init=start, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd", copy_x=False
    )
    begin = time.monotonic()
    kmeans.fit(points)  # ends with an assignment to the final centroids
    return time.monotonic() - begin, kmeans.cluster_centers_


def main():
    system, points, start, iterations, threads, output = sys.argv[1:]
    cluster = {"FAISS": cluster_by_faiss, "scikit-learn": cluster_by_sklearn}[system]
    seconds, centroids = cluster(
        np.load(points).astype(np.float32),
        np.load(start).astype(np.float32),
        int(iterations),
        int(threads),
    )
    np.save(output, centroids)
    print(seconds)


main()
