/* The classes of images, in their order: an IDX file of bytes, or text. */
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
 * Reads the file at PATH, plain or gzipped: IDX of unsigned bytes in one dimension, or else text,
 * an integer on each line.
 */
bool labels_read(const char *path, struct labels *labels, app_problem *problem);

#endif
