#include "config.h"

#include "lib/cost/trials.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* From this times the largest size on, the model alone counts; later where it is of a stand-in. */
static const double FADED = 8, STAND_IN_FADED = 64;

/* A sender waits so long before it sends again what was lost: TCP's least time-out, s. */
static const double TIME_OUT = 0.2;

static bool is_time(double seconds) {
    return seconds >= 1e-9 && seconds <= 1e6;
}

const char *coll_trial_fault(const coll_trial *t) {
    if (!memchr(t->operation, '\0', sizeof t->operation) || !*t->operation ||
        !memchr(t->algorithm, '\0', sizeof t->algorithm) || !*t->algorithm)
        return "no name";
    if ((int)t->level < 0 || t->level >= COLL_LEVELS)
        return "no level";
    if (t->ranks < 2)
        return "less than 2 ranks";
    if (t->knots < 1 || t->knots > COLL_TRIAL_KNOTS)
        return "too few or too many sizes";
    for (int i = 0; i < t->knots; i++) {
        if (!(t->bytes[i] >= 1 && t->bytes[i] <= 1e12))
            return "a size that is not within 1 to 1e12";
        if (!is_time(t->seconds[i]) || !is_time(t->model[i]))
            return "a time that is not within 1e-9 to 1e6 s";
        if (i > 0 && !(t->bytes[i] > t->bytes[i - 1]))
            return "a size that is not above the one before";
    }
    return NULL;
}

/* The line through the logarithms of two points, at X. */
static double between(double x, double from_x, double from_y, double to_x, double to_y) {
    return from_y * pow(to_y / from_y, log(x / from_x) / log(to_x / from_x));
}

static double least_of(const coll_trial *t) {
    return t->bytes[0];
}

static double largest_of(const coll_trial *t) {
    return t->bytes[t->knots - 1];
}

static bool is_within(const coll_trial *t, double bytes) {
    return bytes >= least_of(t) && bytes <= largest_of(t);
}

/* What the model said at one knot, and what it was wrong by. */
static double model_at(const coll_trial *t, int knot) {
    return t->model[knot];
}
static double error_at(const coll_trial *t, int knot) {
    return t->seconds[knot] / t->model[knot];
}

/* The knot below BYTES, but not the last one. */
static int knot_below(const coll_trial *t, double bytes) {
    int i = 0;
    while (i + 2 < t->knots && bytes > t->bytes[i + 1])
        i++;
    return i;
}

/* What is AT the knots, at BYTES, which are within them. */
static double within(const coll_trial *t, double bytes, double (*at)(const coll_trial *, int)) {
    const int i = knot_below(t, bytes);
    if (t->knots == 1)
        return at(t, 0);
    return between(bytes, t->bytes[i], at(t, i), t->bytes[i + 1], at(t, i + 1));
}

/* Whether packets were lost at a knot next to BYTES, of which the model said nothing. */
static bool lost_packets(const coll_trial *t, double bytes) {
    const int i = knot_below(t, bytes), next = bytes < t->bytes[i] || t->knots == 1 ? i : i + 1;
    return fmax(t->seconds[i] - t->model[i], t->seconds[next] - t->model[next]) > TIME_OUT / 2;
}

/* What the model is wrong by at BYTES, which are within the knots. */
static double error_within(const coll_trial *t, double bytes) {
    return within(t, bytes, error_at);
}

/*
 * The same of a call on as many ranks for which the model says MODEL. These may be in another
 * order than those that tried, which changes the model; but what it lacks, such as the work of few
 * cores, is the same.
 */
static double error_alike(const coll_trial *t, double bytes, double model) {
    double error = error_within(t, bytes);
    if (!(error > 1 && model > 0))
        return error;
    return 1 + (error - 1) * within(t, bytes, model_at) / model;
}

/* ERROR at LARGEST, which fades above. */
static double faded(double error, double largest, const coll_trials_call *call) {
    double end = (call->stand_in ? STAND_IN_FADED : FADED) * largest;
    return call->bytes >= end ? 1 : between(call->bytes, largest, error, end, 1);
}

/*
 * Above the sizes that were tried, where what the model lacks is the same, too; it is told by what
 * was the last of it. Where the model says too much the network's rate decides in the end, which it
 * knows.
 */
static double error_above(const coll_trial *t, const coll_trials_call *call, double model) {
    const int last = t->knots - 1;
    const double error = error_at(t, last);
    if (!(error > 1 && model > 0) || call->stand_in)
        return faded(error, largest_of(t), call);
    return 1 + (error - 1) * model_at(t, last) / model;
}

/* Whether both are of one operation on the same ranks. */
static bool ran_beside(const coll_trial *t, const coll_trial *other) {
    return t->ranks == other->ranks && t->level == other->level &&
           strcmp(t->operation, other->operation) == 0;
}

/*
 * What the model is wrong by for CALL, at least, for all that was tried beside RIVAL: what slows
 * down all algorithms, such as few cores, does so to one that was not tried, too. None of these is
 * thought to be faster than its model.
 */
static double common_error(const coll_trial all[], int count, const coll_trials_call *call,
                           const coll_trial *rival) {
    double least = INFINITY, largest = 0, error = INFINITY, bytes = call->bytes;
    for (const coll_trial *t = all; t < all + count; t++)
        if (ran_beside(t, rival)) {
            least = fmin(least, least_of(t));
            largest = fmax(largest, largest_of(t));
        }
    double nearest = fmax(least, fmin(largest, bytes));
    for (const coll_trial *t = all; t < all + count; t++)
        if (ran_beside(t, rival) && is_within(t, nearest))
            error = fmin(error, error_within(t, nearest));
    if (!(error > 1 && error < INFINITY))
        return 1;
    return bytes > largest ? faded(error, largest, call) : error;
}

/* The trial of ALGORITHM, NULL: of any, at CALL's level or ANY one, with the number of ranks that
 * is nearest to CALL's on one SIDE of it, -1: as many or fewer, 1: as many or more. NULL: none. */
static const coll_trial *find_nearest(const coll_trial all[], int count,
                                      const coll_trials_call *call, const char *algorithm,
                                      bool any_level, int side) {
    const coll_trial *nearest = NULL;
    for (const coll_trial *t = all; t < all + count; t++) {
        const int beyond = side * (t->ranks - call->ranks);
        if (strcmp(t->operation, call->operation) == 0 && beyond >= 0 &&
            (any_level || t->level == call->level) &&
            (!algorithm || strcmp(t->algorithm, algorithm) == 0) &&
            (!nearest || beyond < side * (nearest->ranks - call->ranks)))
            nearest = t;
    }
    return nearest;
}

/*
 * The trials that CALL lies between, by ranks; both the same where it is one's own number; NULL:
 * none. Where one side has none at CALL's level those at others count: what the model lacks comes
 * from how many ranks there are, rather than from how far apart they are.
 */
static void find_around(const coll_trial all[], int count, const coll_trials_call *call,
                        const char *algorithm, const coll_trial **fewer, const coll_trial **more) {
    *fewer = find_nearest(all, count, call, algorithm, false, -1);
    *more = find_nearest(all, count, call, algorithm, false, 1);
    if (!*fewer && *more)
        *fewer = find_nearest(all, count, call, algorithm, true, -1);
    else if (*fewer && !*more)
        *more = find_nearest(all, count, call, algorithm, true, 1);
}

/* What the model, which says MODEL for CALL, is wrong by on as many ranks as T was tried with. */
static double error_of(const coll_trial all[], int count, const coll_trials_call *call,
                       const coll_trial *t, double model) {
    double bytes = call->bytes;
    if (t->ranks != call->ranks && lost_packets(t, bytes))
        return 1; /* whether they are depends on how many send */
    if (is_within(t, bytes) && t->ranks == call->ranks)
        return error_alike(t, bytes, model);
    if (is_within(t, bytes))
        return error_within(t, bytes);
    if (bytes > largest_of(t))
        return error_above(t, call, model);
    return fmax(error_at(t, 0), common_error(all, count, call, t));
}

/* What the model lacks at BYTES, within the knots, s: none where it says too much, and where
 * packets were lost, as whether they are depends on how many send. */
static double lack_within(const coll_trial *t, double bytes) {
    if (!is_within(t, bytes) || lost_packets(t, bytes))
        return 0;
    return fmax((error_within(t, bytes) - 1) * within(t, bytes, model_at), 0);
}

/*
 * CALL on more ranks than FEWER and less than MORE were tried with. What the model lacks of both is
 * mostly the work of few cores, which grows with the ranks; it is added. Elsewhere it is wrong by a
 * factor.
 */
static double predict_between(const coll_trial all[], int count, const coll_trials_call *call,
                              const coll_trial *fewer, const coll_trial *more, double model) {
    const double lack = lack_within(fewer, call->bytes), larger = lack_within(more, call->bytes);
    if (lack > 0 && larger > 0)
        return model + lack +
               (larger - lack) * (call->ranks - fewer->ranks) / (more->ranks - fewer->ranks);
    return model * between(call->ranks, fewer->ranks, error_of(all, count, call, fewer, model),
                           more->ranks, error_of(all, count, call, more, model));
}

static double predict_untried(const coll_trial all[], int count, const coll_trials_call *call,
                              double model) {
    const coll_trial *fewer, *more;
    find_around(all, count, call, NULL, &fewer, &more);
    const coll_trial *nearest = more ? more : fewer;
    return nearest ? model * common_error(all, count, call, nearest) : model;
}

double coll_trials_predict(const coll_trial all[], int count, const coll_trials_call *call,
                           double model) {
    const coll_trial *fewer, *more;
    find_around(all, count, call, call->algorithm, &fewer, &more);
    if (!fewer && !more)
        return predict_untried(all, count, call, model);
    if (!fewer || !more)
        return model * error_of(all, count, call, fewer ? fewer : more, model);
    if (fewer->ranks != more->ranks)
        return predict_between(all, count, call, fewer, more, model);
    double error = error_of(all, count, call, fewer, model);
    /* Less data takes no longer than the least that was tried. */
    return call->bytes < least_of(fewer) ? fmin(model * error, fewer->seconds[0]) : model * error;
}
