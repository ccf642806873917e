/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/predict.h"

#include "lib/pattern/binomial.h"
#include "lib/sim/estimate.h"
#include "lib/sim/link_load.h"
#include "lib/tuning/ompi_decision_table.h"

#include <math.h>

/* The work of a message on processors that all ranks share, if the MPI library's own algorithms
 * send it, as a fraction of the work of libcoll's messages; measured with small data on eleven
 * labs. */
static const double NATIVE_WORK = 0.55;

/* --- One prediction --- */

/* Returns the seconds that CALL takes longer than with equal blocks, which estimates assume. */
static double long_block_seconds(const coll_algorithm *algorithm, const coll_shape *call) {
    if (coll_long_class(call) < 0)
        return 0;
    const coll_passes passes =
        algorithm->native ? coll_native_find(call).passes : algorithm->passes;
    const int ranks = call->topo->ranks, times = passes == COLL_PASSES_EACH_RANK ? ranks - 1
                                                 : passes == COLL_PASSES_EACH_ROUND
                                                     ? coll_tree_depth(ranks)
                                                     : 1;
    const coll_cost *link = coll_profile_outermost(coll_shape_costs(call), call->topo);
    return (times - 1) * (double)(call->longest - call->bytes) * link->per_byte;
}

/* Returns the seconds that the MPI library's own algorithm takes for CALL. */
static double predict_native(const coll_shape *call) {
    coll_profile network = *coll_shape_costs(call);
    coll_shape asked = *call;
    network.shared_work *= NATIVE_WORK;
    asked.network = &network;
    return coll_native_estimate(&asked);
}

/* Returns the seconds that ALGORITHM takes for CALL, on the network that CALL names. */
static double predict(const coll_algorithm *algorithm, const coll_shape *call,
                      const coll_values *values) {
    const double even = algorithm->native    ? predict_native(call)
                        : algorithm->predict ? algorithm->predict(call, values)
                                             : coll_estimate(algorithm, call, values);
    return even + long_block_seconds(algorithm, call);
}

double coll_predicted_on(const coll_algorithm *algorithm, const coll_shape *call,
                         const coll_values *values, const coll_profile *network) {
    coll_shape asked = *call;
    asked.network = network;
    return predict(algorithm, &asked, values);
}

double coll_predicted(const coll_algorithm *algorithm, const coll_shape *call,
                      const coll_values *values) {
    coll_profile network;
    return coll_predicted_on(algorithm, call, values,
                             coll_networks_likely(call->profile, call->topo, &network));
}

/* --- All candidates on one network --- */

/* The predicted time of a candidate on one network, kept for the next network. */
typedef struct prediction {
    double seconds;
    bool exact;           /* else SECONDS is a lower bound of the time */
    double fill;          /* coll_shape's */
    coll_traffic sampled; /* likewise */
} prediction;

/* Returns whether ALGORITHM's prediction is one estimate of its plan for the same call. */
static bool keeps_load(const coll_algorithm *algorithm) {
    return !algorithm->native && !algorithm->predict;
}

static void predict_candidate(const coll_shape *call, const coll_choice *candidate, double enough,
                              prediction *p) {
    coll_shape asked = *call;
    asked.enough = isinf(enough) ? 0 : enough;
    asked.sampled = keeps_load(candidate->algorithm) ? &p->sampled : NULL;
    asked.fill = &p->fill;
    p->fill = 0;
    p->seconds = predict(candidate->algorithm, &asked, &candidate->values);
    p->exact = p->seconds < enough;
}

/* Returns the index of the least of the COUNT keys that is not DONE; -1 if all are. */
static int find_least(const double keys[], const bool done[], int count) {
    int least = -1;
    for (int i = 0; i < count; i++)
        if (!done[i] && (least < 0 || keys[i] < keys[least]))
            least = i;
    return least;
}

/* A comparison that is being made. */
typedef struct draft {
    const coll_shape *call; /* stands for its size class */
    int networks;           /* 0: only the call's profile */
    coll_choice *candidates;
    int count;
    prediction predictions[COLL_CANDIDATES];
    coll_comparison *all;
} draft;

/*
 * Predicts the times of the candidates for CALL on its network. A candidate that takes more than
 * COLL_MOST_REGRET times as long as the fastest may get a lower bound of its time instead, which is
 * not less than that many times. The draft has the predictions for the previous network, or zeros.
 * If the network has SHARE of that one's buffers, and differs in nothing else, most predictions
 * remain as they are. Predicts likely fast candidates first, so that most are never simulated to
 * the end. Returns the least time.
 */
static double predict_all(draft *d, const coll_shape *call, double share) {
    const double any = 1e-9;
    double least = INFINITY, keys[COLL_CANDIDATES];
    bool done[COLL_CANDIDATES];
    for (int i = 0; i < d->count; i++) {
        prediction *p = &d->predictions[i];
        const bool remains = p->fill <= share;
        keys[i] = p->seconds;
        p->sampled.rounds = 0;
        if (!remains)
            predict_candidate(call, &d->candidates[i], any, p);
        if (keys[i] == 0)
            keys[i] = p->seconds;
        done[i] = remains && p->exact;
        if (done[i])
            least = fmin(least, p->seconds);
    }
    for (int next; (next = find_least(keys, done, d->count)) >= 0; done[next] = true) {
        prediction *p = &d->predictions[next];
        const double enough = COLL_MOST_REGRET * least;
        if (p->seconds < enough)
            predict_candidate(call, &d->candidates[next], enough, p);
        least = fmin(least, p->seconds);
    }
    return least;
}

/* --- All candidates on all networks --- */

/*
 * Returns the call that stands for CALL in predictions: the shortest of its size class, with the
 * usual element and, if there is only one site, with rank 0 as the root. So only a few calls are
 * predicted, and a choice does not depend on which call of a class came first.
 */
static coll_shape class_representative(const coll_shape *call) {
    coll_shape usual = *call;
    if (call->bytes > 0 && call->bytes != COLL_BYTES_UNKNOWN)
        usual.bytes = coll_class_bytes(coll_size_class(call->bytes));
    const int longest = coll_long_class(call);
    usual.longest = longest < 0 ? 0 : coll_class_bytes(longest);
    usual.element = coll_select_element(call);
    if (call->topo->sites == 1 && call->root != COLL_NO_ROOT)
        usual.root = 0;
    return usual;
}

/* Compares the candidates on the NTH network. */
static void compare_on(draft *d, int nth) {
    coll_profile network;
    coll_shape usual = *d->call;
    double share = -1;
    if (d->networks) {
        coll_networks_get(d->call->profile, d->call->topo, nth, &network);
        usual.network = &network;
        share = coll_networks_buffer_share(d->call->profile, nth);
    }
    const double least = predict_all(d, &usual, share);
    for (int i = 0; i < d->count; i++) {
        const double seconds = d->predictions[i].seconds;
        d->all->slower[nth][i] = fmin(seconds / least, COLL_MOST_REGRET);
        if (nth == 0)
            d->candidates[i].predicted = seconds;
    }
    d->all->networks = nth + 1;
}

static double power(double base, int exponent) {
    double product = 1;
    for (int i = 0; i < exponent; i++)
        product *= base;
    return product;
}

static double regret(const coll_comparison *all, int i) {
    double product = 1;
    for (int n = 0; n < all->networks; n++)
        product *= all->slower[n][i];
    return product;
}

int coll_find_best(const coll_comparison *all, double clearly, int count) {
    const double clear = power(clearly, all->networks);
    int best = 0;
    for (int i = 1; i < count; i++)
        if (regret(all, i) < (best ? 1 : clear) * regret(all, best))
            best = i;
    return best;
}

coll_comparison coll_compare(const coll_shape *call, coll_choice candidates[], int count) {
    coll_comparison all = {.networks = 0};
    const coll_shape usual = class_representative(call);
    draft d = {.call = &usual, .candidates = candidates, .count = count, .all = &all};
    if (call->bytes == COLL_BYTES_UNKNOWN)
        return all;
    d.networks = coll_networks_count(call->profile, call->topo);
    for (int nth = 0; nth == 0 || nth < d.networks; nth++)
        compare_on(&d, nth);
    return all;
}
