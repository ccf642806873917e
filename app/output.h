/*
 * A file that appears under its name only when it is whole and on disk. It is written beside it
 * under a hidden temporary name, which goes on failure, at the program's end and when a signal ends
 * it; a file of that name stays as it is until then. The new one has its permissions, or those that
 * the umask gives. A symbolic link leads to the file that is replaced. What is no regular file
 * (/dev/null, a pipe), or is this program's own standard output, is written to as it is.
 */
#ifndef COLL_APP_OUTPUT_H
#define COLL_APP_OUTPUT_H

#include "app/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One of zeros isn't open; it may be written to no file, committed and discarded. */
typedef struct app_output {
    FILE *file; /* to write to */
    const char *path;
    char *target, *temporary; /* NULL where PATH is written to as it is */
} app_output;

/* Checks, before the work, what can be known then about whether PATH can be written. */
bool app_output_check(const char *path, app_problem *problem);

/*
 * Begins the file PATH, which must stay good; with a PATH of NULL, none. A program has
 * APP_OUTPUT_MOST of them at a time.
 */
enum { APP_OUTPUT_MOST = 8 };
bool app_output_open(app_output *output, const char *path, app_problem *problem);

/* The name of what is written to now, for those that take no FILE; app_output_commit serves them
 * too.
 */
const char *app_output_name(const app_output *output);

bool app_output_write(app_output *output, const void *data, size_t bytes, app_problem *problem);

/* "PATH: can't be written: why" from errno, for a write that failed; false. */
bool app_output_failed(const app_output *output, app_problem *problem);

/* Waits until the file is on disk and closes it; it still has its temporary name. */
bool app_output_finish(app_output *output, app_problem *problem);

/* Gives the finished file its name, for good: on false it hasn't got it. */
bool app_output_keep(app_output *output, app_problem *problem);

/* Both of these: ends the file and gives it its name. */
bool app_output_commit(app_output *output, app_problem *problem);

/* Drops what has no name yet, if anything, without a trace. */
void app_output_discard(app_output *output);

/* Removes all temporary files of this process, which is about to end without exit(3). */
void app_output_abandon(void);

/* Whether NAME, of a file beside PATH, is one that app_output_open gives to PATH's temporary files.
 */
bool app_output_is_temporary(const char *name, const char *path);

/* The directory that PATH lies in, "." for a name alone; NULL without memory. */
char *app_path_directory(const char *path);

/*
 * PATH with the symbolic links at its end followed, also where they lead to nothing yet; NULL, with
 * errno, where that has no end.
 */
char *app_path_follow(const char *path);

#endif
