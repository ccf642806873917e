/* Files that may be gzipped, read by zlib: what is wrong with them, and that they end. */
#ifndef COLL_KMEANS_POINTS_GZIP_H
#define COLL_KMEANS_POINTS_GZIP_H

#include "app/problem.h"

#include <zlib.h>

/* "PATH: why" for a read that gave less than was asked for: an error, or the end within WHAT. */
bool gz_failed(gzFile file, const char *path, const char *what, app_problem *problem);

/*
 * Whether the file at PATH, whose promised data have all been read from FILE, ends with them: no
 * data follow, the checksum is right, and no other bytes come after it.
 */
bool gz_end(gzFile file, const char *path, app_problem *problem);

#endif
