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

/*
 * Returns the user's window, in rounds. If there is none, returns how many rounds keep a host's
 * link busy: in a round, LATENCIES messages follow one another, and BYTES pass the link. That
 * number is doubled, since rounds under way share the link, and rounded up to a power of two, since
 * the number of rounds mostly is a power of two, too. The result is at least FEWEST and at most
 * MOST. It is less if the buffer before a host holds less than an EIGHTH of all these rounds'
 * bytes, at most IF_UNKNOWN if that buffer is unknown, and less if the rounds would need more than
 * MEMORY, with SCRATCH bytes each.
 */
static inline size_t coll_window_asked(const coll_plan_args *args, size_t bytes, int latencies,
                                       size_t scratch) {
    enum { FEWEST = 4, MOST = 16, IF_UNKNOWN = 8, EIGHTH = 8, MEMORY = 8 << 20 };
    if (args->values->at[COLL_WINDOW])
        return (size_t)args->values->at[COLL_WINDOW];
    const coll_cost *link = coll_profile_outermost(args->shape->profile, args->shape->topo);
    const double busy = (double)bytes * link->per_byte,
                 enough = 2 * (1 + latencies * coll_cost_relay(link, 0) / busy),
                 fit = link->buffer > 0 ? EIGHTH * link->buffer / (double)bytes : IF_UNKNOWN;
    size_t window = FEWEST;
    while (window < MOST && (double)window < enough && 2 * (double)window <= fit &&
           2 * window * scratch <= MEMORY)
        window *= 2;
    return window;
}

/* Returns the user's radix, else the cost model's. */
static inline int coll_radix_asked(const coll_plan_args *args) {
    const coll_shape *shape = args->shape;
    const coll_cost *link = coll_profile_outermost(shape->profile, shape->topo);
    return coll_profile_radix_or(args->values->at[COLL_RADIX], link, shape->topo->ranks);
}

#endif
