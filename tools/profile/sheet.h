/*
 * What coll-profile shows: the table of the model's parameters, the picture of its curves, and what
 * algorithms took.
 */
#ifndef COLL_TOOLS_PROFILE_SHEET_H
#define COLL_TOOLS_PROFILE_SHEET_H

#include "app/problem.h"
#include "tools/profile/fitted.h"

#include <stdio.h>

/* Prints the table (Tam and Wang, table 1), and to JSON, unless it is NULL, a line for each row. */
void sheet_print(const model *m, FILE *json);

/* Prints PROFILE's trials, if it has any, by trial_size; and to JSON a line for each time. */
void sheet_print_trials(const COLL_Profile *profile, FILE *json);

/*
 * Draws what was measured and what was fitted by gnuplot; PATH is replaced when the picture is
 * complete. False with a text in PROBLEM.
 */
bool sheet_plot(const model *m, const char *path, app_problem *problem);

#endif
