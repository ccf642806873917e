/* What coll-hlot prints about matrices and trees. No MPI. */
#ifndef COLL_HLOT_HLOT_REPORT_H
#define COLL_HLOT_HLOT_REPORT_H

#include "hlot/matrix.h"

/* The latencies in milliseconds, with the sites' groups where there are any. */
void hlot_report_matrix(FILE *stream, const hlot_matrix *matrix, const int groups[]);

/* The levels, with what serves each. */
void hlot_report_levels(FILE *stream, const hlot_matrix *matrix, const int groups[]);

/* The tree as an indented list, with when the data is at each site. */
void hlot_report_tree(FILE *stream, const hlot_matrix *matrix, const hlot_tree *tree,
                      const double arrival[], const char *heading);

/* The times of all kinds of trees from ROOT; to JSON too unless it is NULL. */
void hlot_report_kinds(FILE *stream, const hlot_network *network, int root, FILE *json);

#endif
