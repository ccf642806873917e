/*
 * The barotropic operator of one block: A x = area x / (g step^2) - div(depth grad x), per cell, in
 * nine points. As in the Parallel Ocean Program, gradients are taken at the corners of cells from
 * the four cells around, and a corner that touches land has no depth. A is symmetric and, for a
 * finite step, positive definite. Pure: no MPI.
 */
#ifndef COLL_POPCG_NINE_POINT_H
#define COLL_POPCG_NINE_POINT_H

#include "cdcp/popcg/field.h"
#include "cdcp/popcg/grid.h"
#include "cdcp/popcg/layout.h"

/* The water: one depth everywhere, and the time step that free waves are damped over. */
struct basin {
    double depth; /* m */
    double step;  /* s; INFINITY leaves out the free surface, and A is singular */
};

/* Coefficients as fields. Those to the west and south are the neighbours' to the east and north. */
struct nine_point {
    struct shape shape;
    double *centre, *north, *east, *north_east;
    double *inverse; /* of the centre, on the border too; 0 on land: the diagonal preconditioner */
};

bool nine_point_make(struct nine_point *matrix, const struct mask *mask, const struct block *block,
                     const struct basin *basin, app_problem *problem);
void nine_point_free(struct nine_point *matrix);

/* y = A x within the block; x needs its border, y's is left as it is. */
void nine_point_apply(const struct nine_point *matrix, double *y, const double *x);

/*
 * What the wind does in a step, the right-hand side b of A x = b for the surface height x in
 * metres: the convergence of the volume that zonal winds, trades and westerlies, would move.
 */
void nine_point_wind(const struct mask *mask, const struct block *block, double *b);

#endif
