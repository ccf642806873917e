/* The files that a command line names, checked before any work: nothing is to overwrite another. */
#ifndef COLL_APP_FILES_H
#define COLL_APP_FILES_H

#include "app/problem.h"

#include <stddef.h>
#include <stdio.h>

typedef struct file_use {
    enum { FILE_READ, FILE_WRITTEN } how;
    const char *name;         /* how the user knows them: "--json", "POINTS" */
    const char *const *paths; /* NULLs among them are passed over */
    size_t count;
    /* Which files are read of a directory, by their names; NULL: all but the hidden ones. */
    bool (*reads)(const char *name);
} file_use;

/*
 * Whether each file that is written can be (output_check), and is neither a second one nor one that
 * is read, whatever the paths: links, ./ and files that are yet to be made count. What is no
 * regular file may be named twice.
 */
bool files_check(const file_use *uses, size_t count, struct problem *problem);

/*
 * Opens the regular file at PATH, of any size, for reading: no pipe that nobody writes to, and no
 * device without an end. NULL and a problem on failure.
 */
FILE *files_open(const char *path, struct problem *problem);

#endif
