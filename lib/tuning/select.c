/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/select.h"

#include "lib/algorithm/operations.h"
#include "lib/cost/networks.h"
#include "lib/tuning/predict.h"

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

static coll_choice default_choice(const coll_algorithm *algorithm, const char *why) {
    return (coll_choice){
        .algorithm = algorithm, .values = coll_values_default(algorithm), .why = why};
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

/* Finds the algorithms (rivals if RIVALS, else the others) that can run CALL and, if STARTED, can
 * start it. Returns their number. */
static int find_candidates(const coll_shape *call, bool started, bool rivals, const char *why,
                           coll_choice found[]) {
    int count = 0;
    for (const coll_algorithm *const *a = table_of(call); *a && count < COLL_CANDIDATES; a++) {
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

/*
 * Sets candidate I's `most` and `gain` compared with CHOSEN. Slowdowns are capped at
 * COLL_MOST_REGRET. A candidate that reaches the cap on some network may really be even slower, so
 * its gain is set to 0.
 */
static void set_most_and_gain(const coll_comparison *all, int chosen, int i,
                              coll_choice *candidate) {
    const double wrong = 0.1; /* predictions are often that wrong */
    double most = 0, gain = 0;
    bool bounded = true;
    for (int n = 0; n < all->networks; n++) {
        const double times = all->slower[n][i] / all->slower[n][chosen];
        bounded = bounded && all->slower[n][i] < COLL_MOST_REGRET;
        most = fmax(most, (1 + wrong) * times);
        gain += fmax(1 - (1 - wrong) * times, 0);
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

/* Chooses as coll_select_likely does. If ONLY_BEST, leaves out all other algorithms. */
static coll_choices choose(const coll_shape *call, const coll_spec *user, bool only_best) {
    coll_choices all = {1, {choose_without_prediction(call, user)}};
    bool compares = !all.of[0].algorithm;
    if (!compares && (only_best || !(all.of[0].predicted > 0)))
        return all;
    coll_choice candidates[COLL_CANDIDATES];
    const int count = find_candidates(call, false, false, reason_for_prediction(call), candidates);
    const double clearly = call->bytes < SMALL ? CLEARLY_IF_SMALL : CLEARLY;
    const coll_comparison by_time = coll_compare(call, candidates, count);
    int best = compares ? coll_find_best(&by_time, clearly, count) : 0;
    while (!compares && best < count && candidates[best].algorithm != all.of[0].algorithm)
        best++;
    if (compares)
        all.of[0] = candidates[best];
    for (int i = 0; i < count && best < count && !only_best; i++) {
        set_most_and_gain(&by_time, best, i, &candidates[i]);
        if (i != best && candidates[i].gain > 0)
            insert_by_gain(&all, candidates[i]);
    }
    return all;
}

coll_choices coll_select_likely(const coll_shape *call, const coll_spec *user) {
    return choose(call, user, false);
}

coll_choice coll_select(const coll_shape *call, const coll_spec *user) {
    return choose(call, user, coll_operations[call->operation].reduces).of[0];
}

/* Returns the best algorithm that can be started, among the rivals if RIVALS, else among the
 * others; no algorithm if none can be started. */
static coll_choice best_started(const coll_shape *call, bool rivals) {
    coll_choice found[COLL_CANDIDATES] = {{.algorithm = NULL}};
    const char *why = call->reproducible ? "least predicted time of what is reproducible"
                                         : "least predicted time of what can be started";
    const int count = find_candidates(call, true, rivals, why, found);
    const coll_comparison by_time = coll_compare(call, found, count);
    return found[coll_find_best(&by_time, 1, count)];
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

static bool applies_to(const coll_algorithm *algorithm, coll_shape call, size_t bytes) {
    call.bytes = bytes;
    return coll_select_applicable(algorithm, &call);
}

/* Returns END if ALGORITHM can run CALL with either both FROM and END bytes or with neither. Else
 * returns the last size, on the way from FROM to END, for which the answer is the same as for FROM.
 * Assumes that the answer changes only once between FROM and END. */
static size_t find_limit(const coll_algorithm *algorithm, const coll_shape *call, size_t from,
                         size_t end) {
    const bool applies = applies_to(algorithm, *call, from);
    if (applies_to(algorithm, *call, end) == applies)
        return end;
    while (from + 1 != end && end + 1 != from) {
        const size_t middle = from / 2 + end / 2 + (from & end & 1);
        if (applies_to(algorithm, *call, middle) == applies)
            from = middle;
        else
            end = middle;
    }
    return from;
}

/* Choices do not hold for a whole class if other algorithms are applicable to a part of it.
 * Otherwise ranks that have made the choices of different calls of a class, on other communicators,
 * would choose among different algorithms. */
void coll_select_range(const coll_shape *call, size_t *least, size_t *most) {
    *least = *most = call->bytes;
    if (call->bytes == COLL_BYTES_UNKNOWN)
        return;
    const size_t first = coll_class_bytes(coll_size_class(call->bytes)), last = 2 * first - 1;
    *least = call->bytes < first ? call->bytes : first;
    *most = last;
    for (const coll_algorithm *const *a = table_of(call); *a; a++) {
        *least = find_limit(*a, call, call->bytes, *least);
        *most = find_limit(*a, call, call->bytes, *most);
    }
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
