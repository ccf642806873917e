/*
 * A global grid without a pole in the ocean: longitudes and latitudes on a sphere whose north pole
 * is moved into Greenland, as in the grids of the Parallel Ocean Program, while the south pole
 * stays in Antarctica. Moving it is a translation of the stereographic plane, so that the grid
 * stays orthogonal and both of a cell's sides grow by the same factor.
 */
#ifndef COLL_POPCG_GRID_H
#define COLL_POPCG_GRID_H

#include <stddef.h>

struct grid {
    size_t columns, rows; /* columns run east around the earth, rows from south to north */
};

struct grid_point {
    double longitude, latitude; /* degrees */
    double dx, dy;              /* m: the sides of a cell whose middle this is */
    double east_x, east_y;      /* the unit vector to the true east, along columns and rows */
};

/* Cell (i, j) has its middle at (i + 0.5, j + 0.5) and its north-east corner at (i + 1, j + 1). */
struct grid_point grid_at(const struct grid *grid, double column, double row);

#endif
