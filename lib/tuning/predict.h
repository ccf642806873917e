/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicted times of algorithms, and their comparison on all networks that the job may be running
 * on (lib/cost/networks.h). Pure.
 */
#ifndef COLL_LIB_TUNING_PREDICT_H
#define COLL_LIB_TUNING_PREDICT_H

#include "lib/cost/networks.h"
#include "lib/tuning/select.h"

#include <stdbool.h>

/*
 * Returns the seconds that ALGORITHM takes for CALL with VALUES on the most likely network: the
 * algorithm's own prediction or, if it has none, an estimate from its plan. The time of the MPI
 * library's own algorithm is estimated by coll_native_estimate.
 */
double coll_predicted(const coll_algorithm *algorithm, const coll_shape *call,
                      const coll_values *values);

/* Returns the same prediction with the message costs of NETWORK, or of the call's profile if
 * NETWORK is NULL. */
double coll_predicted_on(const coll_algorithm *algorithm, const coll_shape *call,
                         const coll_values *values, const coll_profile *network);

/* Upper limit for an algorithm's slowdown relative to the fastest algorithm on the same network;
 * larger slowdowns count as this one. */
#define COLL_MOST_REGRET 3.0

enum { COLL_CANDIDATES = 32 };

/* Each candidate's time divided by the fastest's, for each network; at most COLL_MOST_REGRET. */
typedef struct coll_comparison {
    int networks;
    double slower[COLL_NETWORKS_MOST][COLL_CANDIDATES];
} coll_comparison;

/*
 * Compares the COUNT candidates for CALL on all networks that the job may be running on, and sets
 * their predicted times to the times on the first network.
 *
 * All ranks get the same numbers, since products, quotients and square roots are rounded the same
 * way on all processors. Logarithms may not be, so none are used.
 */
coll_comparison coll_compare(const coll_shape *call, coll_choice candidates[], int count);

/*
 * Returns the candidate with the least regret: the product, over all networks, of its time divided
 * by the fastest's. The first candidate is preferred to each candidate whose time, in the geometric
 * mean over the networks, is at least CLEARLY times the first one's.
 */
int coll_find_best(const coll_comparison *all, double clearly, int count);

#endif
