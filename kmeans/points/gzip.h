/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors and end checks for files, gzipped or not, that are read with zlib. */
#ifndef COLL_KMEANS_POINTS_GZIP_H
#define COLL_KMEANS_POINTS_GZIP_H

#include "app/problem.h"

#include <zlib.h>

/*
 * Reports why a read from FILE gave less than was asked for: an error, or the end within WHAT.
 * Returns false.
 */
bool gz_failed(gzFile file, const char *path, const char *what, app_problem *problem);

/*
 * Checks that the file at PATH ends after the data that have been read from FILE: no data follow,
 * the checksum is right, and the file has no other bytes behind the checksum.
 */
bool gz_end(gzFile file, const char *path, app_problem *problem);

#endif
