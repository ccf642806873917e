/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output of coll-popcg on rank 0: a heading, a row for each solution, the range of the surface,
 * and a picture of it.
 */
#ifndef COLL_CDCP_POPCG_POPCG_REPORT_H
#define COLL_CDCP_POPCG_POPCG_REPORT_H

#include "cdcp/popcg/ocean.h"

#include <stdio.h>

void popcg_report_begin(const struct ocean *ocean, const struct basin *basin);

/*
 * Prints the row of a solution: iterations, residual, microseconds of the slowest rank for ten
 * iterations, and the microseconds in computation, reductions and exchanges, averaged over the
 * ranks. Also writes these figures to JSON unless that is NULL. Collective.
 */
bool popcg_report_row(const struct ocean *ocean, const struct solver *solver,
                      const struct solve *solve, FILE *json, app_problem *problem);

/* Prints the range of the surface height at rank 0. LOWEST and HIGHEST are in metres. */
void popcg_report_end(const struct ocean *ocean, double lowest, double highest);

/*
 * Draws the surface height into the PNG file PATH, with a pixel for each cell: blue for negative,
 * red for positive heights, grey for land, and north at the top. Colours are saturated at the
 * heights -MOST and MOST, in metres. There are a title, axes and a scale. Collective; if it returns
 * false, all ranks have the problem.
 */
bool popcg_report_picture(const struct ocean *ocean, const char *path, double most,
                          app_problem *problem);

#endif
