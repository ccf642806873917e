/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of parameters: the user's, else the cost model's. */
#ifndef COLL_LIB_PLAN_TUNED_H
#define COLL_LIB_PLAN_TUNED_H

#include "lib/plan/plan.h"

/* Returns the user's segment, else the cost model's for a pipeline with FILL
 * (coll_profile_segment_or).
 */
static inline size_t coll_segment_asked(const coll_plan_args *args, double fill) {
    const coll_shape *shape = args->shape;
    const coll_cost *link = coll_profile_outermost(shape->profile, shape->topo);
    return coll_segment_of(
        shape, coll_profile_segment_or(args->values->at[COLL_SEGMENT], link, shape->bytes, fill));
}

/* Returns the user's radix, else the cost model's. */
static inline int coll_radix_asked(const coll_plan_args *args) {
    const coll_shape *shape = args->shape;
    const coll_cost *link = coll_profile_outermost(shape->profile, shape->topo);
    return coll_profile_radix_or(args->values->at[COLL_RADIX], link, shape->topo->ranks);
}

#endif
