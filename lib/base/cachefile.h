/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that libcoll keeps between runs, in $XDG_CACHE_HOME/libcoll or ~/.cache/libcoll: results
 * that took time to measure and can be measured again. No MPI.
 */
#ifndef COLL_LIB_BASE_CACHEFILE_H
#define COLL_LIB_BASE_CACHEFILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Returns the path of the cache file NAME, which the caller frees; NULL if there is no home
 * directory or no memory.
 */
char *coll_cachefile_path(const char *name);

/* Writes CONTEXT to STREAM; returns false on failure. */
typedef bool coll_printer(FILE *stream, const void *context);

/*
 * Writes the file at PATH by calling PRINT, and replaces an old file atomically. Creates missing
 * directories. With LASTING, either the old or the new file survives a crash of the machine; this
 * takes the time to sync the disk. Returns 0 or an errno; ECANCELED if PRINT returned false.
 */
int coll_cachefile_write(const char *path, coll_printer *print, const void *context, bool lasting);

/* Does the same for a file outside the cache, created with MODE. Creates no directories. */
int coll_cachefile_replace(const char *path, mode_t mode, coll_printer *print, const void *context,
                           bool lasting);

#endif
