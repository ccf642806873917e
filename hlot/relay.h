/* Moves a broadcast down a tree of sites, and within each site. */
#ifndef COLL_HLOT_RELAY_H
#define COLL_HLOT_RELAY_H

#include "hlot/wide.h"
#include "lib/bcast/bcast.h"

/*
 * Runs CALL in segments of GIVEN bytes (0: by the model), at most WINDOW of which are under way to
 * a site:
 *
 * 1. The root is the head of its site, elsewhere the lead is. The root makes the tree of KIND; the
 *    first message carries it along, so that all heads use the same tree whatever they know of
 *    latencies, and the trees of two broadcasts can't mix.
 * 2. A head waits for the first message from whomever it comes, on a tag that only this broadcast
 *    has, and finds in the tree who its parent and its children are.
 * 3. It sends each segment on, as soon as it is there, to all children in the tree's order, and
 *    then passes it to the ranks of its site by the algorithm that is predicted to be fastest.
 */
int hlot_relay_run(const coll_planned *call, hlot_kind kind, uint64_t given, int window);

/* Broadcasts over sites, for the table of broadcasts. */
extern const coll_algorithm hlot_bcast_flat;
extern const coll_algorithm hlot_bcast_hlot;

#endif
