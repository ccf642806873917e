/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/popcg/grid.h"

#include <complex.h>
#include <math.h>

static const double pi = 3.14159265358979323846;
static const double earth_radius = 6371220; /* m */

/* The grid's north pole and its first and last rows, in degrees. All three lie on land. */
static const double pole_latitude = 76, pole_longitude = -40;
static const double southern_edge = -79, northern_edge = 86.5;

static double radians(double degrees) {
    return degrees * pi / 180;
}

/*
 * Projects a place stereographically from the south pole: 0 is the north pole, and the equator is
 * |z| = 1. Angles are in radians.
 */
static double complex on_plane(double longitude, double latitude) {
    return tan(pi / 4 - latitude / 2) * cexp(I * longitude);
}

struct grid_point grid_at(const struct grid *grid, double column, double row) {
    double step_x = 2 * pi / (double)grid->columns;
    double step_y = radians(northern_edge - southern_edge) / (double)grid->rows;
    double latitude = radians(southern_edge) + row * step_y;
    double complex z = on_plane(column * step_x, latitude);
    double complex w = z + on_plane(radians(pole_longitude), radians(pole_latitude));
    double complex turn = w * conj(z) / (cabs(w) * cabs(z));
    /* Lengths on the sphere are 2 |dz| / (1 + |z|^2), and dw = dz. */
    double stretch = (1 + creal(z * conj(z))) / (1 + creal(w * conj(w)));
    return (struct grid_point){.longitude = carg(w) * 180 / pi,
                               .latitude = 90 - 2 * atan(cabs(w)) * 180 / pi,
                               .dx = stretch * earth_radius * cos(latitude) * step_x,
                               .dy = stretch * earth_radius * step_y,
                               .east_x = creal(turn),
                               .east_y = cimag(turn)};
}
