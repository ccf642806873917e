#include "config.h"

#include "lib/correction.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Beyond the largest size by this factor nothing is corrected any more. */
static const double FADED = 8;

const char *coll_correction_fault(const coll_correction *c) {
    if (!memchr(c->operation, '\0', sizeof c->operation) || !*c->operation ||
        !memchr(c->algorithm, '\0', sizeof c->algorithm) || !*c->algorithm)
        return "no name";
    if ((int)c->level < 0 || c->level >= COLL_LEVELS)
        return "no level";
    if (c->ranks < 2)
        return "less than 2 ranks";
    if (c->knots < 1 || c->knots > COLL_CORRECTION_KNOTS)
        return "too few or too many sizes";
    for (int i = 0; i < c->knots; i++) {
        if (!(c->bytes[i] >= 1 && c->bytes[i] <= 1e12))
            return "a size that is not within 1 to 1e12";
        if (!(c->ratio[i] >= 1e-3 && c->ratio[i] <= 1e3))
            return "a ratio that is not within 0.001 to 1000";
        if (i > 0 && !(c->bytes[i] > c->bytes[i - 1]))
            return "a size that is not above the one before";
    }
    return NULL;
}

/* From FROM_Y at FROM_X to TO_Y at TO_X, straight in the logarithm of x. */
static double between(double x, double from_x, double from_y, double to_x, double to_y) {
    return from_y + (to_y - from_y) * log(x / from_x) / log(to_x / from_x);
}

/* The logarithm of C's factor at BYTES. */
static double at_size(const coll_correction *c, double bytes) {
    int last = c->knots - 1, i = 0;
    if (bytes <= c->bytes[0])
        return log(c->ratio[0]);
    if (bytes >= FADED * c->bytes[last])
        return 0;
    if (bytes >= c->bytes[last])
        return between(bytes, c->bytes[last], log(c->ratio[last]), FADED * c->bytes[last], 0);
    while (bytes > c->bytes[i + 1])
        i++;
    return between(bytes, c->bytes[i], log(c->ratio[i]), c->bytes[i + 1], log(c->ratio[i + 1]));
}

double coll_correction_factor(const coll_correction all[], int count, const char *operation,
                              const char *algorithm, COLL_Level level, int ranks, double bytes) {
    const coll_correction *fewer = NULL, *more = NULL; /* the nearest; both at RANKS itself */
    for (int i = 0; i < count; i++) {
        const coll_correction *c = &all[i];
        if (c->level != level || strcmp(c->operation, operation) != 0 ||
            strcmp(c->algorithm, algorithm) != 0)
            continue;
        if (c->ranks <= ranks && (!fewer || c->ranks > fewer->ranks))
            fewer = c;
        if (c->ranks >= ranks && (!more || c->ranks < more->ranks))
            more = c;
    }
    if (!fewer && !more)
        return 1;
    if (!fewer || !more || fewer->ranks == more->ranks)
        return exp(at_size(fewer ? fewer : more, bytes));
    return exp(
        between(ranks, fewer->ranks, at_size(fewer, bytes), more->ranks, at_size(more, bytes)));
}
