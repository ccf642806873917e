/* What coll-hlot prints and draws of matrices and trees. No MPI. */
#ifndef COLL_HLOT_HLOT_REPORT_H
#define COLL_HLOT_HLOT_REPORT_H

#include "app/problem.h"
#include "hlot/matrix.h"
#include "hlot/study.h"

/* The latencies in milliseconds, with the sites' groups where there are any. */
void hlot_report_matrix(const hlot_matrix *matrix, const int groups[]);

/* The levels, with what serves each. */
void hlot_report_levels(const hlot_matrix *matrix, const int groups[]);

/* The tree as an indented list, with when the data is at each site. */
void hlot_report_tree(const hlot_matrix *matrix, const hlot_tree *tree, const double arrival[],
                      const char *heading);

/* The times of all kinds of trees from ROOT; to JSON too unless it is NULL. */
void hlot_report_kinds(const hlot_network *network, int root, FILE *json);

/* How good each kind is over many networks. False, with a PROBLEM, without memory. */
bool hlot_report_study(const hlot_study *study, FILE *json, app_problem *problem);

typedef struct hlot_drawing {
    const hlot_matrix *matrix;
    const hlot_tree *tree;
    const double *arrival; /* when each site has the data */
    const int *groups;     /* of the sites (hlot/levels.h) */
    const char *title;
} hlot_drawing;

/*
 * Draws into the file at PATH, whose name ends in .svg or .png; it is replaced as a whole or not at
 * all. False, with a PROBLEM, on errors.
 */
bool hlot_draw(const char *path, const hlot_drawing *drawing, app_problem *problem);

#endif
