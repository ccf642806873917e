/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NumPy's .npy format: one or two dimensions of plain numbers in row-major order and this machine's
 * byte order. Parsing and formatting of headers do no I/O, so they serve both files that are read
 * with stdio and files that are read with pread.
 */
#ifndef COLL_KMEANS_POINTS_NPY_H
#define COLL_KMEANS_POINTS_NPY_H

#include "app/problem.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef enum npy_type {
    NPY_UINT8,
    NPY_INT8,
    NPY_INT32,
    NPY_UINT32,
    NPY_INT64,
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

/* Returns the size of one element in bytes. */
size_t npy_type_size(npy_type type);

/* Returns the value of a float16. */
static inline float npy_half_value(uint16_t half) {
    enum { SIGN = 0x8000, EXPONENT = 0x7c00, MANTISSA = 0x03ff };
    uint32_t bits = (uint32_t)(half & (EXPONENT | MANTISSA)) << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    value *= 0x1p112F; /* the difference of the two types' exponent biases */
    if ((half & EXPONENT) == EXPONENT)
        value = half & MANTISSA ? NAN : INFINITY;
    return half & SIGN ? -value : value;
}

/* Returns element I of an array of TYPE that begins at FROM. Written here to be inlined. */
static inline double npy_value(npy_type type, const void *from, size_t i) {
    const unsigned char *bytes = from;
    int32_t int32;
    uint32_t uint32;
    int64_t int64;
    uint16_t half;
    float real;
    double number;
    switch (type) {
    case NPY_INT8:
        return (int8_t)bytes[i];
    case NPY_INT32:
        memcpy(&int32, bytes + i * sizeof int32, sizeof int32);
        return int32;
    case NPY_UINT32:
        memcpy(&uint32, bytes + i * sizeof uint32, sizeof uint32);
        return uint32;
    case NPY_INT64:
        memcpy(&int64, bytes + i * sizeof int64, sizeof int64);
        return (double)int64;
    case NPY_FLOAT16:
        memcpy(&half, bytes + i * sizeof half, sizeof half);
        return (double)npy_half_value(half);
    case NPY_FLOAT32:
        memcpy(&real, bytes + i * sizeof real, sizeof real);
        return (double)real;
    case NPY_FLOAT64:
        memcpy(&number, bytes + i * sizeof number, sizeof number);
        return number;
    default:
        return bytes[i];
    }
}

/*
 * Returns the size of the data in bytes, which does not overflow for a header that npy_parse_header
 * accepted.
 */
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
 * promises: an array of DIMENSIONS dimensions with at least one element, of type FIRST or SECOND.
 * PATH must outlive TABLE. Call table_close also after a failure.
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
