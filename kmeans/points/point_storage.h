/* SPDX-License-Identifier: BSD-3-Clause */
/* Storage of a rank's points: memory, or a mapped file if they exceed memory. */
#ifndef COLL_KMEANS_POINTS_POINT_STORAGE_H
#define COLL_KMEANS_POINTS_POINT_STORAGE_H

#include "app/problem.h"

#include <stddef.h>
#include <stdint.h>

typedef struct km_point_storage {
    uint8_t *data;
    void *map; /* the mapping; NULL if DATA is allocated */
    size_t map_bytes;
} km_point_storage;

/*
 * Allocates BYTES: in memory, or, if DIRECTORY isn't NULL, in a mapped file there that has no name;
 * its disk space is reserved.
 */
bool km_point_storage_create(km_point_storage *storage, size_t bytes, const char *directory,
                             app_problem *problem);

/* Maps BYTES of the file at PATH from OFFSET on, read-only. */
bool km_point_storage_map_file(km_point_storage *storage, const char *path, uint64_t offset,
                               size_t bytes, app_problem *problem);

/*
 * Opens the regular file at PATH for reading. Returns -1 and a problem on failure. The caller
 * closes the file.
 */
int km_open(const char *path, app_problem *problem);

/* Frees the storage. Storage whose members are all 0 may be freed. */
void km_point_storage_free(km_point_storage *storage);

#endif
