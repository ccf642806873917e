/* Where a rank keeps its points: in memory, or on disk, mapped, for more than memory holds. */
#ifndef COLL_KMEANS_POINTS_ROOM_H
#define COLL_KMEANS_POINTS_ROOM_H

#include "app/problem.h"

#include <stddef.h>
#include <stdint.h>

typedef struct km_room {
    uint8_t *data;
    void *map; /* what is mapped, or NULL: DATA is allocated */
    size_t map_bytes;
} km_room;

/*
 * Room for BYTES: memory, or where DIRECTORY isn't NULL a file without a name there, whose space on
 * the disk is reserved.
 */
bool km_room_make(km_room *room, size_t bytes, const char *directory, app_problem *problem);

/* BYTES of the file at PATH from OFFSET on, where they lie, to be read only. */
bool km_room_of_file(km_room *room, const char *path, uint64_t offset, size_t bytes,
                     app_problem *problem);

/* Opens the regular file at PATH for reading; -1 with a problem. The caller closes it. */
int km_open(const char *path, app_problem *problem);

/* A room of zeros may be freed. */
void km_room_free(km_room *room);

#endif
