/*
 * Files that say something to libcoll: topologies, profiles, latencies. Reading one ends: it is a
 * regular file, no pipe that nobody writes to and no device without an end, and of bounded size. No
 * MPI.
 */
#ifndef COLL_LIB_BASE_TEXTFILE_H
#define COLL_LIB_BASE_TEXTFILE_H

#include <stdbool.h>
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

/* The longest problem with what a file says, with its NUL: MPI_Error_string can hold it. */
enum { COLL_TEXTFILE_PROBLEM = 256 };

/* A text that is taken apart line by line; problems name its file and the line. */
typedef struct coll_lines {
    const char *kind, *path; /* "profile" and so on, and the file's */
    char *next, *end;        /* what is still to come; at END there is room for a NUL */
    int line;                /* the number of the last line; 0: problems name no line */
    char *problem;           /* COLL_TEXTFILE_PROBLEM bytes */
} coll_lines;

/* The next line, ended by NUL, and its LENGTH; NULL after the last one. */
char *coll_lines_next(coll_lines *lines, size_t *length);

/* Writes the problem; false, for the caller to return. */
bool coll_refuse(const coll_lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The word at *REST, ended by NUL; *REST then follows it. "" at the end of the line. */
char *coll_word(char **rest);

/* Whether no word is left. */
bool coll_words_ended(const coll_lines *lines, char *rest);

#endif
