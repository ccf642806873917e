/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates a call's time for the choice of algorithms, from a few small simulations of its plans
 * (lib/sim/sim.h), so that the cost of an estimate is bounded for any size and number of ranks.
 *
 * 1. A call of few events is simulated.
 * 2. For a longer call the first rounds of all plans are simulated, and the first half of these
 *    rounds again alone. Both times give the rate at which the rest is extrapolated.
 * 3. If these are still too many events, a subset of the ranks is simulated, evenly chosen from the
 *    chain order: whole nodes if eight nodes are few enough ranks, else some ranks of each chosen
 *    node. The busy time of a rank is computed for the full number of ranks. The waiting time is
 *    extrapolated from the subset, half of it and a quarter of it: linearly if its increase about
 *    doubles with each doubling of the nodes or ranks, else by the same increase with each
 *    doubling.
 * 4. An estimate is never less than the busiest rank or link needs.
 */
#ifndef COLL_LIB_SIM_ESTIMATE_H
#define COLL_LIB_SIM_ESTIMATE_H

#include "lib/algorithm/algorithm.h"

/*
 * Returns the estimated seconds of ALGORITHM's plan for SHAPE, even if ALGORITHM does not run by
 * its plan with these VALUES. If the estimate exceeds `shape->enough`, any value of at least
 * `shape->enough` may be returned. The result is the same on every rank unless `shape->events` is
 * set: only then memory is allocated, which may fail on one rank alone. Returns INFINITY if there
 * is not enough memory.
 */
double coll_estimate(const coll_algorithm *algorithm, const coll_shape *shape,
                     const coll_values *values);

#endif
