/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barotropic operator of one block, in nine points per cell: A x = area x / (g step^2) -
 * div(depth grad x). As in the Parallel Ocean Program, gradients are taken at the corners of cells,
 * from the four cells around; a corner that touches land has depth 0. A is symmetric and, for a
 * finite step, positive definite. Pure: no MPI.
 */
#ifndef COLL_POPCG_NINE_POINT_H
#define COLL_POPCG_NINE_POINT_H

#include "cdcp/popcg/field.h"
#include "cdcp/popcg/grid.h"
#include "cdcp/popcg/layout.h"

/* The depth of the water, the same everywhere, and the length of a time step. */
struct basin {
    double depth; /* m */
    double step;  /* s; with INFINITY there is no free surface, and A is singular */
};

/*
 * Coefficients as fields. A cell's coefficients to the west and south are the coefficients to the
 * east and north of its western and southern neighbours.
 */
struct nine_point {
    struct shape shape;
    double *centre, *north, *east, *north_east;
    /* inverse of the centre, also on the border; 0 on land. This is the diagonal preconditioner */
    double *inverse;
};

bool nine_point_make(struct nine_point *matrix, const struct mask *mask, const struct block *block,
                     const struct basin *basin, app_problem *problem);
void nine_point_free(struct nine_point *matrix);

/*
 * Sets y = A x within the block. The border of x must be up to date; the border of y does not
 * change.
 */
void nine_point_apply(const struct nine_point *matrix, double *y, const double *x);

/*
 * Sets b, the right-hand side of A x = b for the surface height x in metres, to the effect of zonal
 * winds (trades and westerlies): the net volume that they alone would move into each cell in a
 * step, divided by g step^2.
 */
void nine_point_wind(const struct mask *mask, const struct block *block, double *b);

#endif
