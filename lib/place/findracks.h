/*
 * Finds racks and sites of nodes from round trips: decides which node measures which others, and
 * what that says. No MPI, and no clock: a caller's function measures.
 *
 * One node after the other, unless its rack is known by then, measures a row: all nodes without a
 * rack, and two of each rack that is known. The near ones are in its rack (lib/place/nearness.h).
 * Noise only ever makes a round trip longer. A node that seems to be far for that reason measures a
 * row of its own later, and is then near to its rack. Where some row had not both near and far
 * nodes, one node of each rack measures two of its own and of other racks in the end, until nothing
 * changes. With R racks of equal size that is about R / 2 * nodes pairs.
 */
#ifndef COLL_LIB_PLACE_FINDRACKS_H
#define COLL_LIB_PLACE_FINDRACKS_H

#include <stdbool.h>

/*
 * Measures round trips from node PIVOT to COUNT TARGETS, and sets SECONDS of each, above 0. False:
 * there is nothing more to be measured.
 */
typedef bool coll_measure_row(void *context, int pivot, int count, const int targets[],
                              double seconds[]);

typedef struct coll_racks_found {
    int racks, sites;
    double near, far; /* s: medians in racks, and across them within a site; far 0: no racks */
    bool sure;        /* false: there may be racks, but the times are too unsteady to tell */
} coll_racks_found;

/*
 * Numbers the racks and sites of NODES nodes from 0, in order of first appearance; racks are unique
 * over all sites. Where no clear difference tells racks apart each site is one rack. False, with
 * nothing found, where MEASURE returns false or memory is short.
 */
bool coll_find_racks(int nodes, coll_measure_row *measure, void *context, int racks[], int sites[],
                     coll_racks_found *found);

#endif
