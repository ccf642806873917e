/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the racks and sites of nodes from round trips: decides which node measures which other
 * nodes, and evaluates the times. No MPI and no clock: the caller's function measures.
 *
 * One node after the other, unless its rack is known by then, measures a row: the round trips to
 * all nodes without a rack, and to two nodes of each known rack. The near nodes of a row are in the
 * rack of the node that measured it (lib/topology/nearness.h). Noise only makes round trips longer:
 * a node that seems far because of noise measures a row of its own later, and is then near to its
 * rack. Finally one node of each rack measures some nodes of its own and of other racks, until
 * nothing changes. If something still changes after a few checks, everything is measured again. The
 * result that there are no racks counts only if it is found twice in succession, and, if there is
 * one site, only if some round trip is fast: long round trips hide the difference that a switch
 * makes. With R racks of equal size, about R / 2 * nodes + R * R pairs are measured.
 */
#ifndef COLL_LIB_TOPOLOGY_FINDRACKS_H
#define COLL_LIB_TOPOLOGY_FINDRACKS_H

#include <stdbool.h>

/*
 * Measures round trips from node PIVOT to COUNT TARGETS and sets the SECONDS of each, which are
 * above 0. Returns false if nothing more can be measured.
 */
typedef bool coll_measure_row(void *context, int pivot, int count, const int targets[],
                              double seconds[]);

typedef struct coll_racks_found {
    int racks, sites;
    double near, far; /* s: median round trips within racks, and between racks of a site; FAR is 0
                         if no site has several racks */
    bool sure; /* false: racks may exist that were not found, because the times vary too much, or
                  SLOW is true */
    bool slow; /* all round trips are too long to tell racks apart */
} coll_racks_found;

/*
 * Numbers the racks and sites of NODES nodes from 0, in order of first appearance; rack numbers are
 * unique over all sites. A site in which no clear difference separates racks is one rack. Returns
 * false, with nothing found, if MEASURE returns false or if out of memory.
 */
bool coll_find_racks(int nodes, coll_measure_row *measure, void *context, int racks[], int sites[],
                     coll_racks_found *found);

#endif
