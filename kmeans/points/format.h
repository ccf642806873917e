/*
 * Files of points. A format learns a file's layout from its head on one rank, and then reads any
 * range of its rows on any rank. Adding a format costs one file and one line of the table in
 * points.c.
 */
#ifndef COLL_KMEANS_POINTS_FORMAT_H
#define COLL_KMEANS_POINTS_FORMAT_H

#include "app/agreement.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one rank learns from the head of a file and tells the others. */
typedef struct km_layout {
    uint64_t bytes; /* of the whole file */
    uint64_t rows;
    uint64_t dim;
    uint64_t start;   /* of the first record; formats of fixed records only, as the next two */
    uint64_t prefix;  /* bytes before the features of each record */
    uint64_t element; /* bytes of a feature: 1 for uint8, 4 for float32 */
} km_layout;

typedef struct km_source {
    const char *path;
    const struct km_format *format;
    km_layout layout;
    bool reals;      /* features are to be read as float32 */
    bool reports;    /* this rank says how far it has read */
    uint64_t *lines; /* text: newlines before each block, and at the end all of them; or NULL */
} km_source;

typedef struct km_format {
    /* Whether PATH, whose first COUNT bytes are HEAD, is of this format. */
    bool (*recognise)(const char *path, const unsigned char *head, size_t count);
    /* Fills SOURCE->layout, where BYTES is known already. On one rank. */
    bool (*describe)(int file, km_source *source, app_problem *problem);
    /* Completes SOURCE where its rows must be counted first, or NULL. Collective; agrees. */
    bool (*index)(km_source *source, MPI_Comm comm, app_problem *problem);
    /* Reads ROWS rows from row FIRST into INTO, row after row, as bytes unless reals are wanted.
     * Not collective. */
    bool (*read)(int file, const km_source *source, uint64_t first, size_t rows, uint8_t *into,
                 app_problem *problem);
} km_format;

extern const km_format km_format_npy;
extern const km_format km_format_vecs;
extern const km_format km_format_idx;
extern const km_format km_format_idx_gz;
extern const km_format km_format_text; /* the one for whatever no other recognises */

/* Reads COUNT bytes at OFFSET, all of them or it is a problem. */
bool km_read_at(int file, const char *path, uint64_t offset, void *into, size_t count,
                app_problem *problem);

/* Writes on stderr, if SOURCE reports and a line is due, that DONE of ALL steps of WHAT are done.
 */
void km_report_read(const km_source *source, const char *what, uint64_t done, uint64_t all);

/* True when PATH ends in SUFFIX. */
bool km_has_suffix(const char *path, const char *suffix);

/*
 * The read of formats whose rows are records of one size: a prefix (where there is one, DIM as a
 * 32-bit integer, which is checked) and the features.
 */
bool km_read_records(int file, const km_source *source, uint64_t first, size_t rows, uint8_t *into,
                     app_problem *problem);

#endif
