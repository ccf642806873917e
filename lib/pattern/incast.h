/*
 * Many senders, one receiver, and a bounded buffer before the link to it: how many may send at
 * once. Pure arithmetic.
 *
 * Items are of any one unit, a byte or a packet. A sender issues one every GS seconds, the receiver
 * takes one every GR seconds; X senders at once thus arrive at A = X / GS, and depart at D = 1 / GR
 * items a second. The equations' numbers are those of the source; eq. 5 and 6 are lost in the copy
 * at hand and follow from its own words: enough senders that arrival outpaces departure, and so few
 * that the transfer ratio of eq. 4 stays 1.
 *
 * Source: Tam, Wang: a performance model for commodity clusters, section 5.
 */
#ifndef COLL_LIB_PATTERN_INCAST_H
#define COLL_LIB_PATTERN_INCAST_H

#include <stdbool.h>

/* Eq. 5, G_al: the fewest senders that keep the link to the receiver full; at least 1. */
int coll_incast_fewest(double gs, double gr);

/* Eq. 6, G_au: the most of SENDERS that may send ITEMS in all with nothing lost; at least 1. */
int coll_incast_most(double gs, double gr, double buffer, double items, int senders);

/*
 * Eq. 7, w: the largest number between FEWEST and MOST with which the last group, when SENDERS send
 * in groups of w, keeps the link full, too. A group that is whole counts as a last one. FEWEST
 * where there is none, and never more than SENDERS.
 */
int coll_incast_window(int fewest, int most, int senders);

/*
 * What share of its window a receiver should use next, by the share it used and whether a stream
 * stalled: half as much after a loss, an eighth more, up to all, after none.
 */
double coll_incast_share(double share, bool stalled);

/* Eq. 8: seconds for ITEMS in all; FIRST until the first is at the bottleneck (C1), LAST from there
 * to the end of the last one (C2). */
double coll_incast_seconds(double first, double items, double departure, double last);

#endif
