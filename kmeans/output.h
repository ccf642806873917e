/*
 * A file that appears under its name only when it is whole and on disk: written beside it under a
 * temporary name, which is removed on failure and when a signal ends the program.
 */
#ifndef COLL_KMEANS_OUTPUT_H
#define COLL_KMEANS_OUTPUT_H

#include "tools/problem.h"

#include <stddef.h>
#include <stdio.h>

/* One of zeros isn't open, and may be discarded. */
struct output {
    FILE *file; /* to write to */
    const char *path;
    char *temporary;
};

/*
 * Checks, before the work, what can be known then: that the directory of PATH can be written to,
 * and that PATH is no file but a regular one, and none of the COUNT files at INPUTS.
 */
bool output_check(const char *path, const char *const *inputs, size_t count,
                  struct problem *problem);

/* Begins the file PATH, which must stay good. A program has OUTPUT_MOST of them at a time. */
enum { OUTPUT_MOST = 4 };
bool output_open(struct output *output, const char *path, struct problem *problem);

bool output_write(struct output *output, const void *data, size_t bytes, struct problem *problem);

/* "PATH: can't be written: why" from errno, for a write that failed; false. */
bool output_failed(const struct output *output, struct problem *problem);

/* Waits until the file is on disk and closes it; it still has its temporary name. */
bool output_finish(struct output *output, struct problem *problem);

/* Gives the finished file its name, for good: on false it hasn't got it. */
bool output_keep(struct output *output, struct problem *problem);

/* Both of these: ends the file and gives it its name. */
bool output_commit(struct output *output, struct problem *problem);

/* Drops what has no name yet, if anything, without a trace. */
void output_discard(struct output *output);

#endif
