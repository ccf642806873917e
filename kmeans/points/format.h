/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats of files of points. A format reads a file's layout from its header on one rank, and then
 * any range of its rows on any rank. A new format needs a file, a declaration below, and a line of
 * the table in points.c.
 */
#ifndef COLL_KMEANS_POINTS_FORMAT_H
#define COLL_KMEANS_POINTS_FORMAT_H

#include "app/agreement.h"
#include "kmeans/points/npy.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The layout that one rank reads from the header of a file and sends to the others. */
typedef struct km_layout {
    uint64_t bytes; /* size of the whole file */
    uint64_t rows;
    uint64_t dim;
    uint64_t start; /* offset of the first record; this and the next: only for formats of records of
                       one size */
    uint64_t prefix;  /* bytes before the features of each record */
    npy_type element; /* the type of features, little-endian; no integers of 32 or 64 bits */
} km_layout;

typedef struct km_source {
    const char *path;    /* as it was given, for messages */
    char *file;          /* the path of the file, to be freed */
    const char *dataset; /* the dataset that the path names, or NULL */
    const struct km_format *format;
    km_layout layout;
    bool reals;   /* read features as float32 */
    bool reports; /* this rank prints progress */
    uint64_t
        *lines; /* text: the number of newlines before each block, and then the total; or NULL */
} km_source;

typedef struct km_format {
    bool typed; /* features have the type that the layout says, and may be read as float32 */
    /* Returns whether the file at PATH, whose first COUNT bytes are HEAD, is of this format. */
    bool (*recognise)(const char *path, const unsigned char *head, size_t count);
    /* Fills SOURCE->layout, whose BYTES are already set. Called on one rank. */
    bool (*describe)(int file, km_source *source, app_problem *problem);
    /*
     * Counts the rows if that needs all ranks; NULL if the layout has their number. Collective; on
     * false all ranks have the same problem.
     */
    bool (*index)(km_source *source, MPI_Comm comm, app_problem *problem);
    /*
     * Reads ROWS rows from row FIRST on into INTO, row after row, as bytes unless SOURCE asks for
     * reals. Not collective.
     */
    bool (*read)(int file, const km_source *source, uint64_t first, size_t rows, uint8_t *into,
                 app_problem *problem);
} km_format;

extern const km_format km_format_hdf5;
extern const km_format km_format_npy;
extern const km_format km_format_vecs;
extern const km_format km_format_bin;
extern const km_format km_format_idx;
extern const km_format km_format_idx_gz;
extern const km_format km_format_text; /* the fallback for files that no other format recognises */

/* Reads COUNT bytes at OFFSET; fewer are a problem. */
bool km_read_at(int file, const char *path, uint64_t offset, void *into, size_t count,
                app_problem *problem);

/*
 * Prints a progress line on stderr, if SOURCE reports and a line is due: WHAT (such as "reading"),
 * the path, and the share DONE / ALL in percent.
 */
void km_report_read(const km_source *source, const char *what, uint64_t done, uint64_t all);

/* Returns true if PATH ends in SUFFIX. */
bool km_has_suffix(const char *path, const char *suffix);

/*
 * Converts the features of a record, row ROW of SOURCE, to bytes or to float32, as SOURCE asks for.
 */
bool km_convert_record(const km_source *source, uint64_t row, const unsigned char *record,
                       uint8_t *into, app_problem *problem);

/*
 * The `read` of formats whose rows are records of one size: a prefix, if there is one, which is DIM
 * as a 32-bit integer and is checked; and the features.
 */
bool km_read_records(int file, const km_source *source, uint64_t first, size_t rows, uint8_t *into,
                     app_problem *problem);

#endif
