/* Parameters that the user left to the library, as the cost model has them. */
#ifndef COLL_LIB_SCHEDULE_TUNED_H
#define COLL_LIB_SCHEDULE_TUNED_H

#include "lib/schedule/plan.h"

/* The user's segment, or the cost model's for a pipeline with a FILL (coll_profile_segment). */
static inline size_t coll_segment_asked(const coll_part *part, double fill) {
    const coll_shape *shape = part->shape;
    const coll_cost *link = coll_profile_outermost(shape->profile, shape->topo);
    return coll_segment_of(
        shape, coll_profile_segment_or(part->values->at[COLL_SEGMENT], link, shape->bytes, fill));
}

/* The user's radix, or the cost model's. */
static inline int coll_radix_asked(const coll_part *part) {
    const coll_shape *shape = part->shape;
    const coll_cost *link = coll_profile_outermost(shape->profile, shape->topo);
    return coll_profile_radix_or(part->values->at[COLL_RADIX], link, shape->topo->ranks);
}

#endif
