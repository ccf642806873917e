/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An output file that appears under its name only when it is complete and on disk. It is written
 * next to its final place under a hidden temporary name. The temporary file is removed by
 * app_output_discard, at exit, and if SIGHUP, SIGINT or SIGTERM ends the program, but not after
 * other signals. Until the new file is complete, an existing file of that name stays as it is. The
 * new file gets the permissions of the file that it replaces or, if there is none, those of the
 * umask. For a symbolic link, the file it points to is replaced. If the path is no regular file
 * (/dev/null, a pipe), or is the file of this program's own standard output or error, it is written
 * to directly.
 */
#ifndef COLL_APP_OUTPUT_H
#define COLL_APP_OUTPUT_H

#include "app/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* An output whose members are all 0 is not open; committing and discarding it do nothing. */
typedef struct app_output {
    FILE *file; /* to write to */
    const char *path;
    char *target, *temporary; /* NULL if PATH is written to directly */
} app_output;

/* Checks beforehand, as far as possible, whether PATH can be written. */
bool app_output_check(const char *path, app_problem *problem);

/*
 * Opens an output for PATH, a string that must outlive the output; opens nothing if PATH is NULL. A
 * program can have APP_OUTPUT_MOST outputs open at a time.
 */
enum { APP_OUTPUT_MOST = 8 };
bool app_output_open(app_output *output, const char *path, app_problem *problem);

/*
 * Returns the name of the file that is currently written, for writers that need a name rather than
 * a FILE. Commit the output with app_output_commit in this case, too.
 */
const char *app_output_name(const app_output *output);

bool app_output_write(app_output *output, const void *data, size_t bytes, app_problem *problem);

/* Reports "PATH: can't be written: why" from errno after a failed write, and returns false. */
bool app_output_failed(const app_output *output, app_problem *problem);

/* Flushes the file to disk and closes it; it still has its temporary name. */
bool app_output_finish(app_output *output, app_problem *problem);

/* Renames the temporary file into place; on false the target is unchanged. */
bool app_output_keep(app_output *output, app_problem *problem);

/* Does both: finishes the file and renames it into place. */
bool app_output_commit(app_output *output, app_problem *problem);

/* Closes the output and deletes the temporary file, if there is one. */
void app_output_discard(app_output *output);

/*
 * Writes what is buffered for stdout. Returns false and a problem if that fails, or if an earlier
 * write to stdout has failed. Programs call it before they exit with status 0.
 */
bool app_output_flush_stdout(app_problem *problem);

/* Removes all temporary files of this process, before it ends without exit(3). */
void app_output_abandon(void);

/*
 * Returns whether NAME, in PATH's directory, could be a temporary file of app_output_open for PATH.
 */
bool app_output_is_temporary(const char *name, const char *path);

/*
 * Returns the directory of PATH, "." if PATH has no slash; NULL if memory is short. The caller
 * frees the result.
 */
char *app_path_directory(const char *path);

/*
 * Returns PATH with a symbolic link at its end resolved repeatedly; the last target need not exist.
 * Returns NULL with errno if there are 40 links or more, as in a loop, or if memory is short. The
 * caller frees the result.
 */
char *app_path_follow(const char *path);

#endif
