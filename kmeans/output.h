/*
 * A file that appears under its name only when it is whole: written beside it under a temporary
 * name, which is removed on failure and when a signal ends the program.
 */
#ifndef COLL_KMEANS_OUTPUT_H
#define COLL_KMEANS_OUTPUT_H

#include "kmeans/problem.h"

#include <stdio.h>

struct output {
    FILE *file; /* to write to */
    const char *path;
    char *temporary;
};

/* Begins the file PATH, which must stay good; one output at a time. */
bool output_open(struct output *output, const char *path, struct problem *problem);

/* "PATH: why" from errno, for a write that failed; false. */
bool output_failed(const struct output *output, struct problem *problem);

/* Ends the file and gives it its name. On failure nothing is left of it. */
bool output_commit(struct output *output, struct problem *problem);

/* Drops the file, without a trace; nothing to do after a commit, failed or not. */
void output_discard(struct output *output);

#endif
