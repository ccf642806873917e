/* What coll-popcg prints on rank 0: what is solved, a row for each solution, the surface, which it
 * draws too. */
#ifndef COLL_CDCP_POPCG_POPCG_REPORT_H
#define COLL_CDCP_POPCG_POPCG_REPORT_H

#include "cdcp/popcg/ocean.h"

#include <stdio.h>

void popcg_report_begin(const struct ocean *ocean, const struct basin *basin);

/*
 * The row of a solution: iterations, residual, microseconds of the slowest rank for ten iterations,
 * and how much of them the ranks spent, on average, in computing, reductions and exchanges. As JSON
 * too where JSON is a file. Collective.
 */
bool popcg_report_row(const struct ocean *ocean, const struct solver *solver,
                      const struct solve *solve, FILE *json, app_problem *problem);

/* The surface, LOWEST and HIGHEST in metres. */
void popcg_report_end(const struct ocean *ocean, double lowest, double highest);

/*
 * The surface height as a picture, to the PNG at PATH, a pixel a cell: blue below, red above the
 * middle, land grey, north at the top. The colours reach to the heights -MOST and MOST. Collective;
 * on false all ranks have the problem.
 */
bool popcg_report_picture(const struct ocean *ocean, const char *path, double most,
                          app_problem *problem);

#endif
