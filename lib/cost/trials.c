#include "config.h"

#include "lib/cost/trials.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* From this times the largest size on, the model alone counts. */
static const double FADED = 8;

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

/* VALUES, one a knot, at BYTES, within the knots. */
static double at_size(const coll_trial *t, const double values[], double bytes) {
    int last = t->knots - 1, i = 0;
    if (last == 0)
        return values[0];
    while (i + 1 < last && bytes > t->bytes[i + 1])
        i++;
    return between(bytes, t->bytes[i], values[i], t->bytes[i + 1], values[i + 1]);
}

/* What the model is wrong by at BYTES: below all that was tried as much as there. */
static double error_at(const coll_trial *t, double bytes) {
    double least = t->bytes[0], largest = t->bytes[t->knots - 1];
    double tried = bytes < least ? least : bytes > largest ? largest : bytes;
    double error = at_size(t, t->seconds, tried) / at_size(t, t->model, tried);
    if (bytes >= FADED * largest)
        return 1;
    return bytes > largest ? between(bytes, largest, error, FADED * largest, 1) : error;
}

/* The trials that CALL lies between, by ranks; both the same where it is one's own number; NULL:
 * none.
 */
static void find_nearest(const coll_trial all[], int count, const coll_trials_call *call,
                         const coll_trial **fewer, const coll_trial **more) {
    *fewer = *more = NULL;
    for (const coll_trial *t = all; t < all + count; t++) {
        if (t->level != call->level || strcmp(t->operation, call->operation) != 0 ||
            strcmp(t->algorithm, call->algorithm) != 0)
            continue;
        if (t->ranks <= call->ranks && (!*fewer || t->ranks > (*fewer)->ranks))
            *fewer = t;
        if (t->ranks >= call->ranks && (!*more || t->ranks < (*more)->ranks))
            *more = t;
    }
}

static bool is_outside(const coll_trial *t, double bytes) {
    return bytes < t->bytes[0] || bytes > t->bytes[t->knots - 1];
}

/* On as many ranks as were tried. Less data takes no longer than the least that was tried. */
static double time_of(const coll_trial *t, double bytes, double model) {
    if (!is_outside(t, bytes))
        return at_size(t, t->seconds, bytes);
    double seconds = model * error_at(t, bytes);
    return bytes < t->bytes[0] && seconds > t->seconds[0] ? t->seconds[0] : seconds;
}

double coll_trials_predict(const coll_trial all[], int count, const coll_trials_call *call,
                           double model) {
    const coll_trial *fewer, *more;
    double ranks = call->ranks, bytes = call->bytes;
    find_nearest(all, count, call, &fewer, &more);
    if (!fewer && !more)
        return model;
    if (fewer && fewer == more)
        return time_of(fewer, bytes, model);
    if (!fewer || !more)
        return model * error_at(fewer ? fewer : more, bytes);
    if (is_outside(fewer, bytes) || is_outside(more, bytes))
        return model * between(ranks, fewer->ranks, error_at(fewer, bytes), more->ranks,
                               error_at(more, bytes));
    return between(ranks, fewer->ranks, at_size(fewer, fewer->seconds, bytes), more->ranks,
                   at_size(more, more->seconds, bytes));
}
