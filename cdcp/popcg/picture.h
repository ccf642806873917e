/* The surface height as a picture: blue below, red above the middle, land grey, north at the top.
 */
#ifndef COLL_POPCG_PICTURE_H
#define COLL_POPCG_PICTURE_H

#include "cdcp/popcg/field.h"
#include "cdcp/popcg/layout.h"

#include <mpi.h>

/*
 * Gathers the blocks of X at rank 0, which writes them to PATH as a PNG of one pixel a cell. The
 * colours reach to the heights -MOST and MOST. Collective; on false all ranks have the problem.
 */
bool picture_write(const char *path, const struct layout *layout, const struct mask *mask,
                   const double *x, double most, MPI_Comm comm, app_problem *problem);

#endif
