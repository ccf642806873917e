/* What a message's size does to a network's times: gaps and segments from the cost model. Pure. */
#ifndef COLL_HLOT_MODEL_H
#define COLL_HLOT_MODEL_H

#include "hlot/tree.h"
#include "lib/cost/profile.h"

/*
 * Sets the gap and the number of segments of NETWORK, in seconds, for a message of BYTES over links
 * that cost like LINK, and returns the bytes of a segment: SEGMENT, or the best one where that is
 * 0.
 */
size_t hlot_model_load(const coll_cost *link, uint64_t segment, size_t bytes,
                       hlot_network *network);

#endif
