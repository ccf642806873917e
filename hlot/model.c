#include "config.h"

#include "hlot/model.h"

#include <math.h>

size_t hlot_model_load(const coll_cost *link, uint64_t segment, size_t bytes,
                       hlot_network *network) {
    /* On its way to the last site the first segment is sent about as often as there are sites. */
    size_t length = coll_profile_chunk_or(segment, link, bytes, network->sites);
    network->gap = coll_cost_send_gap(link, (double)length);
    network->segments = length ? ceil((double)bytes / (double)length) : 1;
    return length;
}
