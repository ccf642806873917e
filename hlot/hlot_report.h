/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints and draws matrices and trees for coll-hlot. No MPI. */
#ifndef COLL_HLOT_HLOT_REPORT_H
#define COLL_HLOT_HLOT_REPORT_H

#include "app/problem.h"
#include "hlot/matrix.h"
#include "hlot/tree_quality.h"

/* Prints the latencies in milliseconds and, unless GROUPS is NULL, the groups of the sites. */
void hlot_report_matrix(const hlot_matrix *matrix, const int groups[]);

/* Prints the levels, and the algorithm that serves each of them. */
void hlot_report_levels(const hlot_matrix *matrix, const int groups[]);

/* Prints the tree as an indented list, with the time at which each site has the data. */
void hlot_report_tree(const hlot_matrix *matrix, const hlot_tree *tree, const double arrival[],
                      const char *heading);

/*
 * Prints the times of all kinds of trees from ROOT; also writes them to JSON unless JSON is NULL.
 */
void hlot_report_kinds(const hlot_network *network, int root, FILE *json);

/*
 * Prints how good each kind of tree is over many networks; also writes this to JSON unless JSON is
 * NULL. Returns false, with a PROBLEM, if memory is short.
 */
bool hlot_report_study(const hlot_tree_quality_settings *settings, FILE *json,
                       app_problem *problem);

typedef struct hlot_drawing {
    const hlot_matrix *matrix;
    const hlot_tree *tree;
    const double *arrival; /* time at which each site has the data */
    const int *groups;     /* groups of the sites (hlot/levels.h) */
    const char *title;
} hlot_drawing;

/*
 * Draws the tree into the file at PATH, whose name ends in .svg or .png. The file is replaced
 * completely or not at all. Returns false, with a PROBLEM, on errors.
 */
bool hlot_draw(const char *path, const hlot_drawing *drawing, app_problem *problem);

#endif
