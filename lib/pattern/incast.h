/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Incast: many senders, one receiver, and a bounded buffer before the receiver's link. Computes how
 * many senders may send at the same time. Pure arithmetic.
 *
 * Items are bytes or packets. A sender issues one every GS seconds, the receiver takes one every GR
 * seconds; the items of X concurrent senders thus arrive at a rate of A = X / GS per second, and
 * depart at D = 1 / GR per second. Equation numbers are those of the source; eq. 5 and 6 are
 * missing from the available copy and were derived from its text: enough senders that items arrive
 * at least as fast as they depart, and so few that the transfer ratio of eq. 4 stays 1.
 *
 * Source: Tam and Wang, section 5.
 */
#ifndef COLL_LIB_PATTERN_INCAST_H
#define COLL_LIB_PATTERN_INCAST_H

#include <stdbool.h>

/* Returns eq. 5, G_al: the fewest senders that keep the link to the receiver full; at least 1. */
int coll_incast_fewest(double gs, double gr);

/*
 * Returns eq. 6, G_au: how many of SENDERS may send at the same time without loss if they send
 * ITEMS in all and the buffer holds BUFFER items; at least 1.
 */
int coll_incast_most(double gs, double gr, double buffer, double items, int senders);

/*
 * Returns eq. 7, w: the largest number between FEWEST and MOST for which the last group also keeps
 * the link full, when SENDERS send in groups of w. If all groups are complete, any of them counts
 * as the last one. Returns FEWEST if there is no such number, but never more than SENDERS.
 */
int coll_incast_window(int fewest, int most, int senders);

/*
 * Returns the share of its window that a receiver should use next, given the SHARE that it used and
 * whether a stream STALLED: half as much after a stall, but at least 1/16; otherwise an eighth
 * more, up to 1.
 */
double coll_incast_share(double share, bool stalled);

/*
 * Returns eq. 8: the seconds for ITEMS in all at the rate DEPARTURE. FIRST is the time until the
 * first item is at the bottleneck (C1), LAST the time of the last item from the bottleneck to its
 * destination (C2).
 */
double coll_incast_seconds(double first, double items, double departure, double last);

#endif
