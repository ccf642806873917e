/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields: a rank's block of a quantity, with a border of one cell for the neighbours' values. The
 * solvers compute with these functions and nine_point_apply. Pure: no MPI.
 */
#ifndef COLL_POPCG_FIELD_H
#define COLL_POPCG_FIELD_H

#include <stddef.h>

struct shape {
    size_t width, height; /* without the border */
};

/* Return the number of cells from one row to the next, and the number in the whole field. */
size_t field_line(struct shape shape);
size_t field_cells(struct shape shape);

/*
 * Returns the index of cell (column, row) of the block. Columns -1 and width, and rows -1 and
 * height, are in the border.
 */
size_t field_at(struct shape shape, long column, long row);

/* Returns a field of zeros, which the caller frees, or NULL. */
double *field_new(struct shape shape);

/* Returns the sum of a b over the block without its border, row by row. */
double field_dot(struct shape shape, const double *a, const double *b);

/*
 * field_combine sets y = alpha x + beta y. field_multiply sets y = d x, cell by cell. Both include
 * the border.
 */
void field_combine(struct shape shape, double *y, double alpha, const double *x, double beta);
void field_multiply(struct shape shape, double *y, const double *d, const double *x);

#endif
