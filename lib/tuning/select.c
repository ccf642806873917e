/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/select.h"

#include "lib/algorithm/operations.h"
#include "lib/cost/networks.h"
#include "lib/pattern/binomial.h"
#include "lib/sim/estimate.h"
#include "lib/sim/link_load.h"
#include "lib/tuning/ompi_decision_table.h"

#include <math.h>
#include <string.h>

/*
 * The MPI library's own algorithm runs unless another algorithm is predicted to take less than this
 * fraction of its time. For calls of less than SMALL bytes the fraction is smaller: such messages
 * take mostly processor time, and no prediction knows what other ranks do on the processors. SMALL
 * is a power of two, so either all or no calls of a size class are small.
 */
enum { SMALL = 1024 };
static const double CLEARLY = 0.9, CLEARLY_IF_SMALL = 0.75;

/* Upper limit for an algorithm's slowdown relative to the fastest algorithm on the same network;
 * larger slowdowns count as this one. */
static const double MOST_REGRET = 3;

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

/* Returns the seconds that ALGORITHM takes for CALL, on the network that CALL names. */
static double predict(const coll_algorithm *algorithm, const coll_shape *call,
                      const coll_values *values) {
    const double even = algorithm->native    ? coll_native_estimate(call)
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

static coll_choice default_choice(const coll_algorithm *algorithm, const char *why) {
    return (coll_choice){
        .algorithm = algorithm, .values = coll_values_default(algorithm), .why = why};
}

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

static const char INAPPLICABLE[] = "what was asked for is not applicable here";

/* Returns the algorithm that USER asked for. */
static coll_choice user_choice(const coll_spec *user) {
    return (coll_choice){
        .algorithm = user->algorithm, .values = user->values, .why = "it was asked for"};
}

static const coll_algorithm *const *table_of(const coll_shape *call) {
    return coll_operations[call->operation].table;
}

/* Returns the first algorithm of TABLE that is made for sizes that differ by rank or, if there is
 * none, the first of all. */
static const coll_algorithm *algorithm_for_unequal_sizes(const coll_algorithm *const table[]) {
    for (const coll_algorithm *const *a = table; *a; a++)
        if ((*a)->sizeless)
            return *a;
    return table[0];
}

bool coll_select_native(const coll_topo *topo, const coll_spec *user) {
    return !user->algorithm && topo->nodes == 1;
}

/* Returns whether CALL is so small that the MPI library's algorithm STANDBY is known to be best. */
static bool is_small(const coll_shape *call, const coll_algorithm *standby) {
    const double short_latency = 250e-6; /* s */
    const coll_topo *topo = call->topo;
    return call->bytes < standby->best_below && topo->sites == 1 && topo->ranks == topo->nodes &&
           coll_profile_outermost(call->profile, topo)->latency < short_latency;
}

/* Returns the choice for CALL in cases 1 to 4 of coll_select; no algorithm in case 5. */
static coll_choice choose_without_prediction(const coll_shape *call, const coll_spec *user) {
    const coll_algorithm *standby = table_of(call)[0];
    if (user->algorithm && coll_select_applicable(user->algorithm, call))
        return user_choice(user);
    if (!coll_select_applicable(standby, call))
        return coll_select_started(call, user);
    if (user->algorithm)
        return default_choice(standby, INAPPLICABLE);
    if (call->bytes == COLL_BYTES_UNKNOWN && call->topo->nodes > 1)
        standby = algorithm_for_unequal_sizes(table_of(call));
    if (call->bytes == COLL_BYTES_UNKNOWN)
        return default_choice(standby, "sizes differ by rank");
    if (coll_select_native(call->topo, user))
        return default_choice(standby, "all ranks on one node");
    if (is_small(call, standby))
        return default_choice(standby, "the data is small");
    return (coll_choice){.algorithm = NULL};
}

enum { MOST = 32 }; /* algorithms of a table */

/* Finds the algorithms (rivals if RIVALS, else the others) that can run CALL and, if STARTED, can
 * start it. Returns their number. */
static int find_candidates(const coll_shape *call, bool started, bool rivals, const char *why,
                           coll_choice found[]) {
    int count = 0;
    for (const coll_algorithm *const *a = table_of(call); *a && count < MOST; a++) {
        const coll_choice next = default_choice(*a, why);
        if ((*a)->rival == rivals && coll_select_applicable(*a, call) &&
            (!started || coll_select_can_start(*a, &next.values)))
            found[count++] = next;
    }
    return count;
}

static const char *reason_for_prediction(const coll_shape *call) {
    return coll_networks_count(call->profile, call->topo) && !coll_networks_measured(call->profile)
               ? "good on slow and fast networks; none was measured"
               : "least predicted time";
}

/* Returns whether ALGORITHM's prediction is one estimate of its plan for the same call. */
static bool keeps_load(const coll_algorithm *algorithm) {
    return !algorithm->native && !algorithm->predict;
}

/* The predicted time of a candidate on one network, kept for the next network. */
typedef struct prediction {
    double seconds;
    bool exact;           /* else SECONDS is a lower bound of the time */
    double fill;          /* coll_shape's */
    coll_traffic sampled; /* likewise */
} prediction;

static void predict_candidate(const coll_shape *call, const coll_choice *candidate, double enough,
                              prediction *p) {
    coll_shape asked = *call;
    asked.enough = enough;
    asked.sampled = keeps_load(candidate->algorithm) ? &p->sampled : NULL;
    asked.fill = &p->fill;
    p->fill = 0;
    p->seconds = predict(candidate->algorithm, &asked, &candidate->values);
    p->exact = enough == 0 || p->seconds < enough;
}

/* Returns the index of the least of the COUNT keys that is not DONE; -1 if all are. */
static int find_least(const double keys[], const bool done[], int count) {
    int least = -1;
    for (int i = 0; i < count; i++)
        if (!done[i] && (least < 0 || keys[i] < keys[least]))
            least = i;
    return least;
}

/*
 * Predicts the times of the candidates on the call's network. A candidate that takes at least TIMES
 * the least of these times may get a lower bound of its time instead, which is not less than that
 * product. PREDICTIONS has the predictions for the previous network, or zeros. If the network
 * differs from that one only by having SHARE of its buffers, most predictions remain as they are.
 * Predicts likely fast candidates first, so that most are never simulated to the end.
 */
static void predict_all(const coll_shape *call, double times, double share,
                        const coll_choice candidates[], int count, prediction predictions[]) {
    const double any = 1e-9;
    double least = INFINITY, keys[MOST];
    bool done[MOST];
    for (int i = 0; i < count; i++) {
        prediction *p = &predictions[i];
        const bool remains = p->fill <= share;
        keys[i] = p->seconds;
        p->sampled.rounds = 0;
        if (!remains)
            predict_candidate(call, &candidates[i], any, p);
        done[i] = remains && p->exact;
        if (keys[i] == 0)
            keys[i] = p->seconds;
        if (done[i])
            least = fmin(least, p->seconds);
    }
    for (int next; (next = find_least(keys, done, count)) >= 0; done[next] = true) {
        prediction *p = &predictions[next];
        if (p->seconds < times * least)
            predict_candidate(call, &candidates[next], isinf(least) ? 0 : times * least, p);
        least = fmin(least, p->seconds);
    }
}

/* Each candidate's time divided by the fastest's, for each network. */
typedef struct comparison {
    int networks;
    double slower[COLL_NETWORKS_MOST][MOST];
} comparison;

/*
 * Compares candidates on all networks that the job may be running on, and sets their predicted
 * times to the times on the first network. With one network, candidates count as at most TIMES
 * slower than the fastest; with several, at most MOST_REGRET times. All ranks get the same numbers,
 * since products and quotients are rounded the same way on all processors. Logarithms may not be,
 * so none are used.
 */
static void compare_candidates(const coll_shape *call, double times, coll_choice candidates[],
                               int count, comparison *all) {
    const int networks = coll_networks_count(call->profile, call->topo);
    coll_shape usual = class_representative(call);
    coll_profile network;
    prediction predictions[MOST] = {{.exact = false}};
    all->networks = 0;
    if (call->bytes == COLL_BYTES_UNKNOWN)
        return;
    all->networks = networks ? networks : 1;
    if (networks) {
        usual.network = &network;
        times = MOST_REGRET;
    }
    for (int n = 0; n < all->networks; n++) {
        double least = INFINITY;
        if (networks)
            coll_networks_get(call->profile, call->topo, n, &network);
        predict_all(&usual, times, networks ? coll_networks_buffer_share(call->profile, n) : -1,
                    candidates, count, predictions);
        for (int i = 0; i < count; i++)
            least = fmin(least, predictions[i].seconds);
        for (int i = 0; i < count; i++) {
            all->slower[n][i] = fmin(predictions[i].seconds / least, times);
            if (n == 0)
                candidates[i].predicted = predictions[i].seconds;
        }
    }
}

/* Returns the regret of candidate I: the product, over all networks, of its time divided by the
 * fastest's. */
static double regret(const comparison *all, int i) {
    double product = 1;
    for (int n = 0; n < all->networks; n++)
        product *= all->slower[n][i];
    return product;
}

/*
 * Returns the candidate with the least regret. The first candidate is preferred to each candidate
 * whose time, in the geometric mean over the networks, is at least CLEARLY times the first one's.
 */
static int find_best(const comparison *all, double clearly, int count) {
    double clear = 1;
    int best = 0;
    for (int n = 0; n < all->networks; n++)
        clear *= clearly;
    for (int i = 1; i < count; i++)
        if (regret(all, i) < (best ? 1 : clear) * regret(all, best))
            best = i;
    return best;
}

/* Sets candidate I's `most` and `gain` compared with CHOSEN. Slowdowns are capped at MOST_REGRET. A
 * candidate that reaches the cap on some network may really be even slower, so its gain is set to
 * 0. */
static void set_most_and_gain(const comparison *all, int chosen, int i, coll_choice *candidate) {
    double most = 0, gain = 0;
    bool bounded = true;
    for (int n = 0; n < all->networks; n++) {
        const double times = all->slower[n][i] / all->slower[n][chosen];
        bounded = bounded && all->slower[n][i] < MOST_REGRET;
        most = fmax(most, times);
        gain += fmax(1 - times, 0);
    }
    candidate->most = (int)ceil(1000 * most);
    candidate->gain = bounded && gain > 0 ? (int)(1000 * gain / all->networks) : 0;
}

/* Inserts NEXT behind the first choice, in descending order of gain. If the list is full, the entry
 * with the least gain is dropped. */
static void insert_by_gain(coll_choices *all, coll_choice next) {
    int at = all->count;
    while (at > 1 && all->of[at - 1].gain < next.gain)
        at--;
    if (at == COLL_LIKELY)
        return;
    all->count += all->count < COLL_LIKELY;
    memmove(&all->of[at + 1], &all->of[at], (size_t)(all->count - 1 - at) * sizeof next);
    all->of[at] = next;
}

coll_choices coll_select_likely(const coll_shape *call, const coll_spec *user) {
    coll_choices all = {1, {choose_without_prediction(call, user)}};
    bool compares = !all.of[0].algorithm;
    if (!compares && !(all.of[0].predicted > 0))
        return all;
    coll_choice candidates[MOST];
    comparison by_time;
    int count = find_candidates(call, false, false, reason_for_prediction(call), candidates);
    compare_candidates(call, MOST_REGRET, candidates, count, &by_time);
    const double clearly = call->bytes < SMALL ? CLEARLY_IF_SMALL : CLEARLY;
    int best = compares ? find_best(&by_time, clearly, count) : 0;
    while (!compares && best < count && candidates[best].algorithm != all.of[0].algorithm)
        best++;
    if (compares)
        all.of[0] = candidates[best];
    for (int i = 0; i < count && best < count; i++) {
        set_most_and_gain(&by_time, best, i, &candidates[i]);
        if (candidates[i].gain > 0)
            insert_by_gain(&all, candidates[i]);
    }
    return all;
}

coll_choice coll_select(const coll_shape *call, const coll_spec *user) {
    return coll_select_likely(call, user).of[0];
}

/* Returns the best algorithm that can be started, among the rivals if RIVALS, else among the
 * others; no algorithm if none can be started. */
static coll_choice best_started(const coll_shape *call, bool rivals) {
    const double clear = 1.001; /* candidates that take longer need no exact prediction */
    coll_choice found[MOST] = {{.algorithm = NULL}};
    const char *why = call->reproducible ? "least predicted time of what is reproducible"
                                         : "least predicted time of what can be started";
    int count = find_candidates(call, true, rivals, why, found);
    comparison by_time;
    compare_candidates(call, clear, found, count, &by_time);
    const int best = find_best(&by_time, 1, count);
    return found[best];
}

coll_choice coll_select_started(const coll_shape *call, const coll_spec *user) {
    if (user->algorithm && coll_select_applicable(user->algorithm, call) &&
        coll_select_can_start(user->algorithm, &user->values))
        return user_choice(user);
    coll_choice best = best_started(call, false);
    if (!best.algorithm)
        best = best_started(call, true);
    if (user->algorithm)
        best.why = coll_select_applicable(user->algorithm, call)
                       ? "what was asked for can't be started"
                       : INAPPLICABLE;
    return best;
}

/* Finds most reasons by testing again with a call that lacks one of the conditions. */
const char *coll_select_obstacle(const coll_algorithm *algorithm, const coll_shape *call) {
    coll_shape other = *call;
    if (coll_select_applicable(algorithm, call))
        return algorithm->native ? "persistent operations can't use it"
                                 : "only blocking operations can use it";
    other.reproducible = other.ordered = false;
    if (coll_select_applicable(algorithm, &other))
        return call->reproducible ? "COLL_REPRODUCIBLE is set" : "the operation does not commute";
    other = *call;
    other.bytes = 1;
    if (coll_select_applicable(algorithm, &other))
        return call->bytes == COLL_BYTES_UNKNOWN ? "sizes may differ by rank"
                                                 : "the data is too large for it";
    other.served = SIZE_MAX;
    if (coll_select_applicable(algorithm, &other))
        return "no dedicated processors serve such a call";
    return call->topo->nodes == 1   ? "all ranks are on one host"
           : call->topo->racks == 1 ? "all hosts are in one rack"
                                    : "it does not suit these hosts, racks and sites";
}
