/*
 * Result files: written beside their final name under a temporary one, and renamed only when whole
 * and on disk.
 */
#ifndef COLL_KMEANS_RESULT_FILE_H
#define COLL_KMEANS_RESULT_FILE_H

#include "kmeans/problem.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct result_file {
    const char *path;
    char *temporary; /* NULL: not open */
    int file;
} result_file;

/*
 * Checks, before the work, what can be known then: that the directory of PATH can be written to,
 * and that PATH is no file but a regular one, and none of the COUNT files at INPUTS.
 */
bool result_file_check(const char *path, const char *const *inputs, size_t count,
                       struct problem *problem);

/* Opens a temporary file beside PATH, which must outlive OUTPUT. */
bool result_file_open(result_file *output, const char *path, struct problem *problem);

bool result_file_write(result_file *output, const void *data, size_t bytes,
                       struct problem *problem);

/* Waits until the file is on disk and closes it; it still has its temporary name. */
bool result_file_finish(result_file *output, struct problem *problem);

/* Gives the finished file its final name. */
bool result_file_keep(result_file *output, struct problem *problem);

/* Removes what has no final name yet, if anything. */
void result_file_discard(result_file *output);

#endif
