/* SPDX-License-Identifier: BSD-3-Clause */
/* The classes of images, in the images' order: an IDX file of bytes, or text. */
#ifndef COLL_KMEANS_WORDS_LABELS_H
#define COLL_KMEANS_WORDS_LABELS_H

#include "app/problem.h"

#include <stddef.h>
#include <stdint.h>

struct labels {
    int32_t *values; /* free() them */
    size_t count;
};

/*
 * Reads the file at PATH, plain or gzipped: one-dimensional IDX of unsigned bytes, or else text
 * with an integer on each line.
 */
bool labels_read(const char *path, struct labels *labels, app_problem *problem);

#endif
