/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/popcg/field.h"

#include <stdlib.h>

size_t field_line(struct shape shape) {
    return shape.width + 2;
}

size_t field_cells(struct shape shape) {
    return field_line(shape) * (shape.height + 2);
}

size_t field_at(struct shape shape, long column, long row) {
    return (size_t)(row + 1) * field_line(shape) + (size_t)(column + 1);
}

double *field_new(struct shape shape) {
    return calloc(field_cells(shape), sizeof(double));
}

double field_dot(struct shape shape, const double *a, const double *b) {
    double sum = 0;
    for (size_t row = 0; row < shape.height; row++) {
        size_t start = field_at(shape, 0, (long)row);
        for (size_t i = start; i < start + shape.width; i++)
            sum += a[i] * b[i];
    }
    return sum;
}

void field_combine(struct shape shape, double *y, double alpha, const double *x, double beta) {
    size_t cells = field_cells(shape);
    for (size_t i = 0; i < cells; i++)
        y[i] = alpha * x[i] + beta * y[i];
}

void field_multiply(struct shape shape, double *y, const double *d, const double *x) {
    size_t cells = field_cells(shape);
    for (size_t i = 0; i < cells; i++)
        y[i] = d[i] * x[i];
}
