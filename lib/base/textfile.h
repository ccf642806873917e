/*
 * Files that say something to libcoll: topologies, profiles, latencies. Reading one ends: it is a
 * regular file, no pipe that nobody writes to and no device without an end, and of bounded size. No
 * MPI.
 */
#ifndef COLL_LIB_BASE_TEXTFILE_H
#define COLL_LIB_BASE_TEXTFILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* For readers that need no bound, since they take little memory whatever the size. */
#define COLL_TEXTFILE_ANY_SIZE SIZE_MAX

/*
 * Opens the regular file at PATH, of at most MOST bytes, for reading. Returns 0 with *STREAM for
 * the caller to close, or an error for coll_textfile_fault: an errno, of which EINVAL stands for
 * what is neither a regular file nor a directory, and EFBIG for what is too large.
 */
int coll_textfile_open(const char *path, size_t most, FILE **stream);

/*
 * Reads all of that file into *TEXT, a NUL behind it, for the caller to free; LENGTH bytes without
 * the NUL. The same errors; *TEXT is then NULL.
 */
int coll_textfile_read(const char *path, size_t most, char **text, size_t *length);

/* Reads all that is left of STREAM, which may be any, in the same way. */
int coll_textfile_take(FILE *stream, size_t most, char **text, size_t *length);

/* ERROR in words. */
const char *coll_textfile_fault(int error);

#endif
