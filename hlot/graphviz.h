/* Pictures of trees, through graphviz. No MPI. */
#ifndef COLL_HLOT_GRAPHVIZ_H
#define COLL_HLOT_GRAPHVIZ_H

#include "app/problem.h"
#include "hlot/matrix.h"

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
