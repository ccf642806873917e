/*
 * NumPy's .npy format, one or two dimensions of plain numbers in row-major order and this machine's
 * byte order. Parsing and formatting are pure, so that they serve stdio and MPI-IO alike.
 */
#ifndef COLL_KMEANS_POINTS_NPY_H
#define COLL_KMEANS_POINTS_NPY_H

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
    NPY_PROBLEM_SIZE = 160      /* holds every problem text of this file */
};

/* "uint8" and so on. */
const char *npy_type_name(npy_type type);

/* Bytes of one element. */
size_t npy_type_size(npy_type type);

/* Bytes of the data; never overflows for a header that npy_parse_header let pass. */
uint64_t npy_data_size(const npy_header *header);

/*
 * Reads a header from the first COUNT bytes of a file; give NPY_HEADER_LONGEST of them, or the
 * whole file where it is shorter. On false HEADER is untouched and PROBLEM says what is wrong, to
 * be printed after the file's name.
 */
bool npy_parse_header(const void *bytes, size_t count, npy_header *header,
                      char problem[NPY_PROBLEM_SIZE]);

/* Writes the header of an array; the data follow it. Columns are ignored with one dimension. */
void npy_format_header(npy_type type, int dimensions, uint64_t rows, uint64_t columns,
                       char bytes[NPY_HEADER_SIZE]);

/*
 * Reads the header of an open regular file, checks that the file holds all data that it promises
 * and nothing more, and leaves the file at the first datum. False and PROBLEM as above.
 */
bool npy_read_header(FILE *file, npy_header *header, char problem[NPY_PROBLEM_SIZE]);

#endif
