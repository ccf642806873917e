#include "config.h"

#include "lib/operation/select.h"

#include "lib/schedule/plan.h"
#include "lib/schedule/quote.h"

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
           a->reproducible == b->reproducible;
}

/* The MPI library's own stays where no other is predicted to take less than so much of its time. */
static const double CLEARLY = 0.9;

/* What is predicted to take more than so many times the least is not the fastest. */
static const double UNLIKELY = 2;

/* Trials run with these. */
static bool are_defaults(const coll_algorithm *algorithm, const coll_values *values) {
    coll_values defaults = coll_values_default(algorithm);
    return memcmp(values, &defaults, sizeof defaults) == 0;
}

/* What the model may say at least where as many seconds are predicted as are enough for CALL. */
static double enough_of_model(const coll_shape *call, const coll_trials_call *tried) {
    enum { DOUBLINGS = 6 };
    double model = call->enough;
    for (int i = 0; i < DOUBLINGS; i++, model *= 2)
        if (coll_trials_predict(call->profile->trial, call->profile->trials, tried, model) >=
            call->enough)
            return model;
    return 0;
}

double coll_predicted(const coll_algorithm *algorithm, const coll_shape *call,
                      const coll_values *values, double *model) {
    const coll_trials_call tried = {.operation = call->operation,
                                    .algorithm = algorithm->name,
                                    .level = coll_profile_farthest(call->topo),
                                    .ranks = call->topo->ranks,
                                    .bytes = (double)call->bytes,
                                    .stand_in = coll_algorithm_is_native(algorithm)};
    const bool is_tried = are_defaults(algorithm, values);
    coll_shape asked = *call;
    if (call->enough > 0 && is_tried)
        asked.enough = enough_of_model(call, &tried);
    double seconds = algorithm->predict ? algorithm->predict(&asked, values)
                                        : coll_quote(algorithm, &asked, values);
    if (model)
        *model = seconds;
    if (!is_tried)
        return seconds;
    return coll_trials_predict(call->profile->trial, call->profile->trials, &tried, seconds);
}

static coll_choice choice(const coll_algorithm *algorithm, const char *why) {
    return (coll_choice){
        .algorithm = algorithm, .values = coll_values_default(algorithm), .why = why};
}

static coll_choice predicted_choice(const coll_algorithm *algorithm, const coll_shape *call,
                                    const char *why) {
    coll_choice made = choice(algorithm, why);
    if (call->bytes != COLL_BYTES_UNKNOWN)
        made.predicted = coll_predicted(algorithm, call, &made.values, NULL);
    return made;
}

/*
 * The call that CALL is predicted as: of all sizes from above one power of two to the next, of any
 * numbers, and in one site of all roots, as it costs time to predict one, and what is chosen must
 * not depend on which of them came first.
 */
static coll_shape usual_of(const coll_shape *call) {
    coll_shape usual = *call;
    if (call->bytes > 1 && call->bytes <= (SIZE_MAX >> 1) + 1)
        usual.bytes = (size_t)1 << coll_size_class(call->bytes);
    usual.element = usual_element(call);
    if (call->topo->sites == 1 && call->root != COLL_NO_ROOT)
        usual.root = 0;
    return usual;
}

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
    if (user->algorithm)
        return choice(standby, "what was asked for is not applicable here");
    if (!coll_select_applicable(standby, call))
        return coll_select_started(table, call, user);
    if (call->bytes == COLL_BYTES_UNKNOWN && call->topo->nodes > 1)
        standby = sizeless(table);
    if (call->bytes == COLL_BYTES_UNKNOWN)
        return choice(standby, "sizes differ by rank");
    if (coll_select_native(call->topo, user))
        return choice(standby, "all ranks on one node");
    if (call->topo->sites == 1 && call->bytes <= standby->best_up_to)
        return choice(standby, "the data is small");
    return (coll_choice){.algorithm = NULL};
}

/* Puts NEXT, by its price, among those behind the first, where there is room. */
static void insert(coll_choices *all, coll_choice next) {
    int at = all->count;
    while (at > 1 && all->of[at - 1].predicted > next.predicted)
        at--;
    if (at == COLL_LIKELY)
        return;
    all->count += all->count < COLL_LIKELY;
    memmove(&all->of[at + 1], &all->of[at], (size_t)(all->count - 1 - at) * sizeof next);
    all->of[at] = next;
}

coll_choices coll_select_likely(const coll_algorithm *const table[], const coll_shape *call,
                                const coll_spec *user) {
    enum { MOST = 32 }; /* algorithms of a table */
    coll_choices all = {1, {without_prices(table, call, user)}};
    bool compares = !all.of[0].algorithm;
    if (!compares && !(all.of[0].predicted > 0))
        return all;
    coll_shape usual = usual_of(call);
    coll_choice priced[MOST];
    int count = 0, best = 0;
    double least = INFINITY;
    for (const coll_algorithm *const *a = table; *a && count < MOST; a++) {
        if ((*a)->rival || !coll_select_applicable(*a, call))
            continue;
        priced[count] = predicted_choice(*a, &usual, "least predicted time");
        least = fmin(least, priced[count++].predicted);
        usual.enough = UNLIKELY / CLEARLY * least;
    }
    for (int i = 1; i < count; i++)
        if (priced[i].predicted < (best ? 1 : CLEARLY) * priced[best].predicted)
            best = i;
    if (compares)
        all.of[0] = priced[best];
    for (int i = 0; i < count; i++)
        if (priced[i].algorithm != all.of[0].algorithm &&
            priced[i].predicted <= UNLIKELY * all.of[0].predicted)
            insert(&all, priced[i]);
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
    coll_choice best = {.algorithm = NULL};
    coll_shape usual = usual_of(call);
    for (const coll_algorithm *const *a = table; *a; a++) {
        coll_values values = coll_values_default(*a);
        if (!coll_select_can_start(*a, &values) || (*a)->rival != rivals ||
            !coll_select_applicable(*a, call))
            continue;
        coll_choice next =
            predicted_choice(*a, &usual,
                             call->reproducible ? "least predicted time of what is reproducible"
                                                : "least predicted time of what can be started");
        if (!best.algorithm || next.predicted < best.predicted) {
            best = next;
            usual.enough = next.predicted;
        }
    }
    return best;
}

coll_choice coll_select_started(const coll_algorithm *const table[], const coll_shape *call,
                                const coll_spec *user) {
    if (user->algorithm && coll_select_applicable(user->algorithm, call) &&
        coll_select_can_start(user->algorithm, &user->values))
        return asked_for(user);
    coll_choice best = best_started(table, call, false);
    return best.algorithm ? best : best_started(table, call, true);
}
