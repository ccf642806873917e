/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input files of libcoll: topologies, profiles, latencies. Reading a file always ends, since it
 * must be a regular file of bounded size, not a pipe or an endless device. No MPI.
 */
#ifndef COLL_LIB_BASE_TEXTFILE_H
#define COLL_LIB_BASE_TEXTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* No size limit: for readers whose memory does not depend on the size of the file. */
#define COLL_TEXTFILE_ANY_SIZE SIZE_MAX

/*
 * Opens the regular file at PATH, of at most MOST bytes, for reading. Returns 0 and sets *STREAM,
 * which the caller closes; or returns an error for coll_textfile_fault: an errno, EINVAL if PATH is
 * neither a regular file nor a directory, EFBIG if the file is too large.
 */
int coll_textfile_open(const char *path, size_t most, FILE **stream);

/*
 * Reads the file at PATH, of at most MOST bytes, into *TEXT, which the caller frees. LENGTH does
 * not count the terminating NUL. Returns 0, or an error as coll_textfile_open does; *TEXT is then
 * NULL.
 */
int coll_textfile_read(const char *path, size_t most, char **text, size_t *length);

/* Reads the rest of STREAM, of any kind, in the same way. */
int coll_textfile_take(FILE *stream, size_t most, char **text, size_t *length);

/* Returns a description of ERROR. */
const char *coll_textfile_fault(int error);

/* Size of a message about a problem in a file, with its NUL; it fits into an MPI_Error_string. */
enum { COLL_TEXTFILE_PROBLEM = 256 };

/* A text that is read line by line; error messages name its file and the current line. */
typedef struct coll_lines {
    const char *kind, *path; /* the kind of file ("profile", ...) and its path */
    char *next, *end;        /* the unread part; the byte at END is writable, for a NUL */
    int line;                /* number of the current line; 0: messages name no line */
    char *problem;           /* receives the message; COLL_TEXTFILE_PROBLEM bytes */
} coll_lines;

/* Returns the next line, terminated by NUL, and its LENGTH; NULL after the last line. */
char *coll_lines_next(coll_lines *lines, size_t *length);

/* Writes a message to LINES->problem. Returns false, for the caller to return. */
bool coll_refuse(const coll_lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Returns the first word at *REST, terminated by NUL, and advances *REST past it; "" at the end of
 * the line.
 */
char *coll_word(char **rest);

/* Returns whether REST contains no more words; otherwise writes a message about the first. */
bool coll_words_ended(const coll_lines *lines, char *rest);

#endif
