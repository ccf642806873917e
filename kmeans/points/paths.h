/* The files of points that a command line names, in an order that doesn't depend on its own. */
#ifndef COLL_KMEANS_POINTS_PATHS_H
#define COLL_KMEANS_POINTS_PATHS_H

#include "app/agreement.h"

#include <stddef.h>

typedef struct km_paths {
    const char **paths; /* in byte order */
    size_t count;
    char *bytes; /* what they point to */
} km_paths;

/*
 * The files at the COUNT PATHS, and those in the directories among them whose names begin with no
 * dot; a file that is named twice is there twice. Rank 0 looks. Collective; on false all ranks have
 * the same problem. The caller frees FILES with km_paths_free.
 */
bool km_paths_expand(const char *const *paths, size_t count, MPI_Comm comm, km_paths *files,
                     app_problem *problem);

/* Files of zeros may be freed. */
void km_paths_free(km_paths *files);

#endif
