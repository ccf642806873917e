/*
 * Files that libcoll keeps from run to run, in $XDG_CACHE_HOME/libcoll or ~/.cache/libcoll: what
 * took time to find out and can be found out again. No MPI.
 */
#ifndef COLL_LIB_BASE_CACHEFILE_H
#define COLL_LIB_BASE_CACHEFILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* The path of the file called NAME, for the caller to free; NULL: no home directory, no memory. */
char *coll_cachefile_path(const char *name);

/* Writes CONTEXT to STREAM; false where that can't be. */
typedef bool coll_printer(FILE *stream, const void *context);

/*
 * Has PRINT write the file at PATH, which is replaced as a whole or not at all; its directories are
 * made. LASTING: a crash of the machine leaves the old file or the new one, which takes the time of
 * the disk. Returns 0 or an errno; ECANCELED where PRINT returns false.
 */
int coll_cachefile_write(const char *path, coll_printer *print, const void *context, bool lasting);

/* The same for a file elsewhere, of MODE; without making directories. */
int coll_cachefile_replace(const char *path, mode_t mode, coll_printer *print, const void *context,
                           bool lasting);

#endif
