/* The files that a command line names, checked before any work: nothing is to overwrite another. */
#ifndef COLL_APP_FILES_H
#define COLL_APP_FILES_H

#include "app/problem.h"

#include <stddef.h>
#include <stdio.h>

typedef struct app_file_use {
    enum { APP_FILE_READ, APP_FILE_WRITTEN } how;
    const char *name;         /* how the user knows them: "--json", "POINTS" */
    const char *const *paths; /* NULLs among them are passed over */
    size_t count;
    /* Which files are read of a directory, by their names; NULL: all but the hidden ones. */
    bool (*reads)(const char *name);
} app_file_use;

/*
 * Whether each file that is written can be (app_output_check), and is neither a second one nor one
 * that is read, whatever the paths: links, ./ and files that are yet to be made count. What is no
 * regular file may be named twice.
 */
bool app_files_check(const app_file_use *uses, size_t count, app_problem *problem);

/*
 * Opens the regular file at PATH, of any size, for reading: no pipe that nobody writes to, and no
 * device without an end. NULL and a problem on failure.
 */
FILE *app_files_open(const char *path, app_problem *problem);

#endif
