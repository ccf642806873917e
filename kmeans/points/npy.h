/*
 * NumPy's .npy format, one or two dimensions of plain numbers in row-major order and this machine's
 * byte order. Parsing and formatting are pure, so that they serve stdio and MPI-IO alike.
 */
#ifndef COLL_KMEANS_POINTS_NPY_H
#define COLL_KMEANS_POINTS_NPY_H

#include "app/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum npy_type { NPY_UINT8, NPY_INT32, NPY_UINT32, NPY_FLOAT32 } npy_type;

typedef struct npy_header {
    npy_type type;
    int dimensions;    /* 1 or 2 */
    uint64_t shape[2]; /* rows, columns; columns is 1 where there is one dimension */
    size_t offset;     /* where the data begin in the file */
} npy_header;

enum {
    NPY_HEADER_SIZE = 128,      /* of every header that is written */
    NPY_HEADER_LONGEST = 65536, /* of every header that is read, magic included */
};

/* "uint8" and so on. */
const char *npy_type_name(npy_type type);

/* Bytes of one element. */
size_t npy_type_size(npy_type type);

/* Bytes of the data; never overflows for a header that npy_parse_header let pass. */
uint64_t npy_data_size(const npy_header *header);

/*
 * Reads a header from the first COUNT bytes of the file PATH; give NPY_HEADER_LONGEST of them, or
 * the whole file where it is shorter. On false HEADER is untouched.
 */
bool npy_parse_header(const char *path, const void *bytes, size_t count, npy_header *header,
                      app_problem *problem);

/* Writes the header of an array; the data follow it. Columns are ignored with one dimension. */
void npy_format_header(npy_type type, int dimensions, uint64_t rows, uint64_t columns,
                       char bytes[NPY_HEADER_SIZE]);

/* A .npy file of one or two dimensions, read row by row. */
struct table {
    const char *path;
    FILE *file;
    npy_header header;
};

/*
 * Opens the file PATH, which must stay good, when it holds just what its header promises, of
 * DIMENSIONS and FIRST or SECOND type and not empty, and goes to row 0. table_close it, after a
 * failure too.
 */
bool table_open(struct table *table, const char *path, int dimensions, npy_type first,
                npy_type second, app_problem *problem);

/* Goes to a row, to be read next. */
bool table_seek(struct table *table, uint64_t row, app_problem *problem);

/* Reads the next row. */
bool table_read(struct table *table, void *row, app_problem *problem);

/* A table of zeros may be closed. */
void table_close(struct table *table);

#endif
