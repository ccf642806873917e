#include "config.h"

#include "lib/operation/select.h"

#include "lib/cost/networks.h"
#include "lib/operation/stand_in.h"
#include "lib/schedule/estimate.h"
#include "lib/schedule/plan.h"

#include <math.h>
#include <string.h>

bool coll_select_applicable(const coll_algorithm *algorithm, const coll_shape *call) {
    return (!call->reproducible || algorithm->reproducible) &&
           (!algorithm->applicable || algorithm->applicable(call));
}

/* Numbers are all alike: a segment is a whole one more or less. */
static size_t usual_element(const coll_shape *call) {
    const size_t number = 16, usual = 8;
    if (call->element == 0 || call->element > number)
        return call->element;
    return call->bytes < usual && call->bytes > 0 ? 1 : usual;
}

bool coll_select_alike(const coll_shape *a, const coll_shape *b) {
    return coll_size_class(a->bytes) == coll_size_class(b->bytes) &&
           usual_element(a) == usual_element(b) && a->ordered == b->ordered &&
           a->reproducible == b->reproducible && a->served == b->served;
}

/* The MPI library's own stays where no other is predicted to take less than so much of its time. */
static const double CLEARLY = 0.9;

/* An algorithm that is slower than that on a network counts as so many times slower. */
static const double MOST_REGRET = 3;

/* Returns the seconds that ALGORITHM takes for CALL on its network. */
static double predict(const coll_algorithm *algorithm, const coll_shape *call,
                      const coll_values *values) {
    return coll_algorithm_is_native(algorithm) ? coll_stand_in_quote(call)
           : algorithm->predict                ? algorithm->predict(call, values)
                                               : coll_estimate(algorithm, call, values);
}

double coll_predicted(const coll_algorithm *algorithm, const coll_shape *call,
                      const coll_values *values) {
    coll_profile network;
    coll_shape asked = *call;
    if (coll_networks_measured(call->profile) &&
        coll_networks_count(call->profile, call->topo) > 0) {
        coll_networks_get(call->profile, call->topo, 0, &network);
        asked.network = &network;
    }
    return predict(algorithm, &asked, values);
}

static coll_choice choice(const coll_algorithm *algorithm, const char *why) {
    return (coll_choice){
        .algorithm = algorithm, .values = coll_values_default(algorithm), .why = why};
}

/*
 * The call that CALL is predicted as: the shortest of its size class, of any numbers, and in one
 * site of all roots, as it costs time to predict one, and what is chosen must not depend on which
 * of them came first.
 */
static coll_shape usual_of(const coll_shape *call) {
    coll_shape usual = *call;
    if (call->bytes > 0 && call->bytes != COLL_BYTES_UNKNOWN)
        usual.bytes = coll_class_bytes(coll_size_class(call->bytes));
    usual.element = usual_element(call);
    if (call->topo->sites == 1 && call->root != COLL_NO_ROOT)
        usual.root = 0;
    return usual;
}

static const char INAPPLICABLE[] = "what was asked for is not applicable here";

/* What USER asked for. */
static coll_choice asked_for(const coll_spec *user) {
    return (coll_choice){
        .algorithm = user->algorithm, .values = user->values, .why = "it was asked for"};
}

/* The first algorithm of TABLE that is made for sizes that differ, or the first of all. */
static const coll_algorithm *sizeless(const coll_algorithm *const table[]) {
    for (const coll_algorithm *const *a = table; *a; a++)
        if ((*a)->sizeless)
            return *a;
    return table[0];
}

bool coll_select_native(const coll_topo *topo, const coll_spec *user) {
    return !user->algorithm && topo->nodes == 1;
}

/* What CALL goes by where the table's prices don't count; no algorithm: they do. */
static coll_choice without_prices(const coll_algorithm *const table[], const coll_shape *call,
                                  const coll_spec *user) {
    const coll_algorithm *standby = table[0];
    if (user->algorithm && coll_select_applicable(user->algorithm, call))
        return asked_for(user);
    if (!coll_select_applicable(standby, call))
        return coll_select_started(table, call, user);
    if (user->algorithm)
        return choice(standby, INAPPLICABLE);
    if (call->bytes == COLL_BYTES_UNKNOWN && call->topo->nodes > 1)
        standby = sizeless(table);
    if (call->bytes == COLL_BYTES_UNKNOWN)
        return choice(standby, "sizes differ by rank");
    if (coll_select_native(call->topo, user))
        return choice(standby, "all ranks on one node");
    if (call->topo->sites == 1 && call->bytes < standby->best_below)
        return choice(standby, "the data is small");
    return (coll_choice){.algorithm = NULL};
}

enum { MOST = 32 }; /* algorithms of a table */

/* Those of TABLE that can run CALL, start it if it is to be STARTED: rivals or the others. */
static int find_candidates(const coll_algorithm *const table[], const coll_shape *call,
                           bool started, bool rivals, const char *why, coll_choice found[]) {
    int count = 0;
    for (const coll_algorithm *const *a = table; *a && count < MOST; a++) {
        const coll_choice next = choice(*a, why);
        if ((*a)->rival == rivals && coll_select_applicable(*a, call) &&
            (!started || coll_select_can_start(*a, &next.values)))
            found[count++] = next;
    }
    return count;
}

static const char *why_of(const coll_shape *call) {
    return coll_networks_count(call->profile, call->topo) && !coll_networks_measured(call->profile)
               ? "good on slow and fast networks; none was measured"
               : "least predicted time";
}

/*
 * Predicts in SECONDS what takes as little as so many TIMES the least; of all others a bound that
 * is no less. Candidates come in the order of what they take at least, so that most are never
 * played.
 */
static void predict_all(const coll_shape *call, double times, const coll_choice candidates[],
                        int count, double seconds[]) {
    coll_shape asked = *call;
    double least = INFINITY;
    bool done[MOST] = {false};
    asked.enough = 1e-9;
    for (int i = 0; i < count; i++)
        seconds[i] = predict(candidates[i].algorithm, &asked, &candidates[i].values);
    for (int played = 0; played < count; played++) {
        int next = -1;
        for (int i = 0; i < count; i++)
            if (!done[i] && (next < 0 || seconds[i] < seconds[next]))
                next = i;
        done[next] = true;
        asked.enough = isinf(least) ? 0 : times * least;
        if (seconds[next] < times * least)
            seconds[next] = predict(candidates[next].algorithm, &asked, &candidates[next].values);
        least = fmin(least, seconds[next]);
    }
}

/* How many times slower candidates are than the fastest, on each network. */
typedef struct comparison {
    int networks;
    double slower[COLL_NETWORKS_MOST][MOST];
} comparison;

/*
 * Compares candidates on all networks that the job may be running on, and predicts what they take
 * on the first. On each network a candidate counts as at most so many TIMES slower than the
 * fastest; several networks have their own bound. All ranks get the same numbers: quotients and
 * products round alike on all processors, and logarithms may not.
 */
static void compare(const coll_shape *call, double times, coll_choice candidates[], int count,
                    comparison *all) {
    const int networks = coll_networks_count(call->profile, call->topo);
    coll_shape usual = usual_of(call);
    coll_profile network;
    double seconds[MOST];
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
        predict_all(&usual, times, candidates, count, seconds);
        for (int i = 0; i < count; i++)
            least = fmin(least, seconds[i]);
        for (int i = 0; i < count; i++) {
            all->slower[n][i] = fmin(seconds[i] / least, times);
            if (n == 0)
                candidates[i].predicted = seconds[i];
        }
    }
}

/* Returns the product over all networks of how many times slower candidate I is: its regret. */
static double regret(const comparison *all, int i) {
    double product = 1;
    for (int n = 0; n < all->networks; n++)
        product *= all->slower[n][i];
    return product;
}

/* Returns the candidate with the least regret: the first one unless another has CLEARLY so little
 * of its times. */
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

/* Sets what candidate I may cost and gain where CHOSEN runs. One that counts as MOST_REGRET times
 * slower somewhere may be slower still, and gains nothing. */
static void weigh(const comparison *all, int chosen, int i, coll_choice *candidate) {
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

/* Puts NEXT, by its gain, among those behind the first, where there is room. */
static void insert(coll_choices *all, coll_choice next) {
    int at = all->count;
    while (at > 1 && all->of[at - 1].gain < next.gain)
        at--;
    if (at == COLL_LIKELY)
        return;
    all->count += all->count < COLL_LIKELY;
    memmove(&all->of[at + 1], &all->of[at], (size_t)(all->count - 1 - at) * sizeof next);
    all->of[at] = next;
}

coll_choices coll_select_likely(const coll_algorithm *const table[], const coll_shape *call,
                                const coll_spec *user) {
    coll_choices all = {1, {without_prices(table, call, user)}};
    bool compares = !all.of[0].algorithm;
    if (!compares && !(all.of[0].predicted > 0))
        return all;
    coll_choice priced[MOST];
    comparison by_price;
    int count = find_candidates(table, call, false, false, why_of(call), priced);
    compare(call, MOST_REGRET, priced, count, &by_price);
    int best = compares ? find_best(&by_price, CLEARLY, count) : 0;
    while (!compares && best < count && priced[best].algorithm != all.of[0].algorithm)
        best++;
    if (compares)
        all.of[0] = priced[best];
    for (int i = 0; i < count && best < count; i++) {
        weigh(&by_price, best, i, &priced[i]);
        if (priced[i].gain > 0)
            insert(&all, priced[i]);
    }
    return all;
}

coll_choice coll_select(const coll_algorithm *const table[], const coll_shape *call,
                        const coll_spec *user) {
    return coll_select_likely(table, call, user).of[0];
}

bool coll_select_can_start(const coll_algorithm *algorithm, const coll_values *values) {
    return algorithm->open || coll_planner_of(algorithm, values);
}

/* The best of TABLE that can be started, among rivals or others; no algorithm where none can. */
static coll_choice best_started(const coll_algorithm *const table[], const coll_shape *call,
                                bool rivals) {
    const double clear = 1.001; /* of two that are equal the first is the best */
    coll_choice found[MOST] = {{.algorithm = NULL}};
    const char *why = call->reproducible ? "least predicted time of what is reproducible"
                                         : "least predicted time of what can be started";
    int count = find_candidates(table, call, true, rivals, why, found);
    comparison by_price;
    compare(call, clear, found, count, &by_price);
    const int best = find_best(&by_price, 1, count);
    return found[best];
}

coll_choice coll_select_started(const coll_algorithm *const table[], const coll_shape *call,
                                const coll_spec *user) {
    if (user->algorithm && coll_select_applicable(user->algorithm, call) &&
        coll_select_can_start(user->algorithm, &user->values))
        return asked_for(user);
    coll_choice best = best_started(table, call, false);
    if (!best.algorithm)
        best = best_started(table, call, true);
    if (user->algorithm)
        best.why = coll_select_applicable(user->algorithm, call)
                       ? "what was asked for can't be started"
                       : INAPPLICABLE;
    return best;
}

/* Most conditions can be told from each other only by asking again for a call without one. */
const char *coll_select_obstacle(const coll_algorithm *algorithm, const coll_shape *call) {
    coll_shape other = *call;
    if (coll_select_applicable(algorithm, call))
        return coll_algorithm_is_native(algorithm) ? "persistent operations can't use it"
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
