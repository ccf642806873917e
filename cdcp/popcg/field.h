/*
 * Fields: a rank's block of a quantity with a border of one cell, which holds the neighbours'
 * values. All computing of the solvers goes through these functions. Pure: no MPI.
 */
#ifndef COLL_POPCG_FIELD_H
#define COLL_POPCG_FIELD_H

#include <stddef.h>

struct shape {
    size_t width, height; /* without the border */
};

/* Cells from one row to the next, and of the whole field. */
size_t field_line(struct shape shape);
size_t field_cells(struct shape shape);

/* Where cell (column, row) of the block is; -1 and width or height are the border's. */
size_t field_at(struct shape shape, long column, long row);

/* A field of zeros, or NULL. free() it. */
double *field_new(struct shape shape);

/* The sum of a b over the block without its border, row by row. */
double field_dot(struct shape shape, const double *a, const double *b);

/* y = alpha x + beta y, border and all; y = d x, cell by cell. */
void field_combine(struct shape shape, double *y, double alpha, const double *x, double beta);
void field_multiply(struct shape shape, double *y, const double *d, const double *x);

#endif
