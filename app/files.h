/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the files that a command line names, before any work: no output may overwrite an input or
 * another output.
 */
#ifndef COLL_APP_FILES_H
#define COLL_APP_FILES_H

#include "app/problem.h"

#include <stddef.h>
#include <stdio.h>

typedef struct app_file_use {
    enum { APP_FILE_READ, APP_FILE_WRITTEN } how;
    const char *name;         /* how messages call the files: "--json", "POINTS" */
    const char *const *paths; /* NULLs among them are skipped */
    size_t count;
    /*
     * Returns whether the file NAME in a directory among PATHS is read. NULL: all files except
     * hidden ones are read.
     */
    bool (*reads)(const char *name);
} app_file_use;

/*
 * Checks that each file to be written can be written (app_output_check), and is not named as
 * another output or as an input. Compares files rather than paths, so different paths to one file
 * are found, and includes files that don't exist yet. Only regular files are compared. Refuses more
 * than 8 files to be written.
 */
bool app_files_check(const app_file_use *uses, size_t count, app_problem *problem);

/*
 * Opens the regular file at PATH, of any size, for reading; refuses pipes and devices. Returns NULL
 * and a problem on failure.
 */
FILE *app_files_open(const char *path, app_problem *problem);

#endif
