/*
 * What coll-profile shows: the table of the model's parameters and the picture of its curves.
 */
#ifndef COLL_TOOLS_PROFILE_SHEET_H
#define COLL_TOOLS_PROFILE_SHEET_H

#include "app/problem.h"
#include "tools/profile/fitted.h"

#include <stdio.h>

/* Prints the table (Tam and Wang, table 1), and to JSON, unless it is NULL, a line for each row. */
void sheet_print(const model *m, FILE *json);

/*
 * Draws what was measured and what was fitted by gnuplot; PATH is replaced when the picture is
 * complete. False with a text in PROBLEM.
 */
bool sheet_plot(const model *m, const char *path, app_problem *problem);

#endif
