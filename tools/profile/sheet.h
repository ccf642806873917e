/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the table of the model's parameters and draws the picture of its curves.
 */
#ifndef COLL_TOOLS_PROFILE_SHEET_H
#define COLL_TOOLS_PROFILE_SHEET_H

#include "app/problem.h"
#include "tools/profile/fitted.h"

#include <stdio.h>

/*
 * Prints the table (Tam and Wang, table 1). Unless JSON is NULL, also writes each row to JSON, as a
 * line with a JSON object.
 */
void sheet_print(const model *m, FILE *json);

/*
 * Draws the measured points and the fitted curves with gnuplot. PATH is replaced only when the
 * picture is complete. Returns false, with a text in PROBLEM, on failure.
 */
bool sheet_plot(const model *m, const char *path, app_problem *problem);

#endif
