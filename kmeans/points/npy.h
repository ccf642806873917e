/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NumPy's .npy format: one or two dimensions of plain numbers in row-major order and this machine's
 * byte order. Parsing and formatting do no I/O, so they serve both stdio and MPI-IO.
 */
#ifndef COLL_KMEANS_POINTS_NPY_H
#define COLL_KMEANS_POINTS_NPY_H

#include "app/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum npy_type {
    NPY_UINT8,
    NPY_INT8,
    NPY_INT32,
    NPY_UINT32,
    NPY_FLOAT16,
    NPY_FLOAT32,
    NPY_FLOAT64
} npy_type;

typedef struct npy_header {
    npy_type type;
    int dimensions;    /* 1 or 2 */
    uint64_t shape[2]; /* rows, columns; columns is 1 if there is one dimension */
    size_t offset;     /* file offset of the data */
} npy_header;

enum {
    NPY_HEADER_SIZE = 128,      /* size of every header that is written */
    NPY_HEADER_LONGEST = 65536, /* largest header that is read, magic number included */
};

/* Returns "uint8" and so on. */
const char *npy_type_name(npy_type type);

/* Returns the bytes of one element. */
size_t npy_type_size(npy_type type);

/* Returns the bytes of the data; never overflows for a header that npy_parse_header accepted. */
uint64_t npy_data_size(const npy_header *header);

/*
 * Parses the header in the first COUNT bytes of the file PATH; pass NPY_HEADER_LONGEST bytes, or
 * the whole file if it is shorter. On false HEADER is untouched.
 */
bool npy_parse_header(const char *path, const void *bytes, size_t count, npy_header *header,
                      app_problem *problem);

/*
 * Writes the header of an array; the data follow it. COLUMNS is ignored if there is one dimension.
 */
void npy_format_header(npy_type type, int dimensions, uint64_t rows, uint64_t columns,
                       char bytes[NPY_HEADER_SIZE]);

/* A .npy file of one or two dimensions, read row by row. */
struct table {
    const char *path;
    FILE *file;
    npy_header header;
};

/*
 * Opens the file PATH and goes to row 0. The file must hold exactly the data that its header
 * promises, at least one element, with DIMENSIONS dimensions of type FIRST or SECOND. PATH must
 * outlive TABLE. Call table_close also after a failure.
 */
bool table_open(struct table *table, const char *path, int dimensions, npy_type first,
                npy_type second, app_problem *problem);

/* Makes ROW the next row to be read. */
bool table_seek(struct table *table, uint64_t row, app_problem *problem);

/* Reads the next row. */
bool table_read(struct table *table, void *row, app_problem *problem);

/* Closes the file. A table whose members are all 0 may be closed. */
void table_close(struct table *table);

#endif
