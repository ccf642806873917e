/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A global grid without a pole in the ocean: longitudes and latitudes on a sphere whose north pole
 * is moved to Greenland, as in the grids of the Parallel Ocean Program; the south pole stays in
 * Antarctica. The move is a translation in the stereographic plane. So the grid stays orthogonal,
 * and both sides of a cell change by the same factor.
 */
#ifndef COLL_POPCG_GRID_H
#define COLL_POPCG_GRID_H

#include <stddef.h>

struct grid {
    size_t columns, rows; /* columns run east around the earth, rows from south to north */
};

struct grid_point {
    double longitude, latitude; /* degrees */
    double dx, dy;              /* sides of the cell around this point; m */
    /* unit vector to the true east: its components towards higher columns and higher rows */
    double east_x, east_y;
};

/*
 * Returns the point at (COLUMN, ROW). Cell (i, j) has its middle at (i + 0.5, j + 0.5) and its
 * north-east corner at (i + 1, j + 1).
 */
struct grid_point grid_at(const struct grid *grid, double column, double row);

#endif
