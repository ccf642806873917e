/* Pictures of trees, through graphviz. No MPI. */
#ifndef COLL_HLOT_GRAPHVIZ_H
#define COLL_HLOT_GRAPHVIZ_H

#include "app/problem.h"
#include "hlot/matrix.h"

/*
 * Draws TREE into the file at PATH, whose name ends in .svg or .png; it is replaced as a whole or
 * not at all. ARRIVAL holds the times at which the sites have the data, GROUPS their groups
 * (hlot/levels.h); TITLE stands above. False, with a PROBLEM, on errors.
 */
bool hlot_draw(const char *path, const hlot_matrix *matrix, const hlot_tree *tree,
               const double arrival[], const int groups[], const char *title,
               struct problem *problem);

#endif
