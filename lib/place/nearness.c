#include "config.h"

#include "lib/place/nearness.h"

#include <math.h>
#include <stdlib.h>

/*
 * Between sites round trips take at least so many times as long as within, and at least so long
 * (seconds): microseconds here, milliseconds there.
 */
static const double SITE_FACTOR = 4, SITE_LEAST = 200e-6;

/* Times of one class differ by less than this factor, the medians of two classes by more. */
static const double RACK_FACTOR = 1.15;

/* What takes so many times the median says no more than what takes just that. */
static const double OUTLIER = 1.25;

/* Of the squares of all deviations at most so much may be left within the two classes: of times
 * that are spread evenly it is a quarter. */
static const double WITHIN = 0.12;

static int by_time(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static double median(const double sorted[], int first, int count) {
    return sorted[first + (count - 1) / 2];
}

/*
 * Returns how many of COUNT times are in the lower of the two classes whose logarithms deviate
 * least from their means, and in *WITHIN_SHARE what is then left of the squares.
 */
static int best_split(const double sorted[], int count, double *within_share) {
    double most = OUTLIER * sorted[count / 2], sum = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        double value = log(fmin(sorted[i], most));
        sum += value;
        squares += value * value;
    }
    double total = squares - sum * sum / count, best = 0, below = 0;
    int split = 0;
    for (int i = 1; i < count; i++) {
        below += log(fmin(sorted[i - 1], most));
        double apart = below / i - (sum - below) / (count - i);
        double between = apart * apart * i * (count - i) / count;
        if (between > best) {
            best = between;
            split = i;
        }
    }
    *within_share = total > 0 ? 1 - best / total : 0;
    return split;
}

coll_row_split coll_nearness_find(int count, const double seconds[], double fastest,
                                  double sorted[], coll_nearness nearness[]) {
    coll_row_split found = {.kind = COLL_ROW_EVEN};
    double most = fmax(SITE_LEAST, SITE_FACTOR * fastest), last_near = 0, within_share;
    int local = 0;
    for (int i = 0; i < count; i++)
        if (seconds[i] < most)
            sorted[local++] = seconds[i];
    if (local > 0) {
        qsort(sorted, (size_t)local, sizeof *sorted, by_time);
        found.near = median(sorted, 0, local);
        int near = best_split(sorted, local, &within_share), far = local - near;
        double medians[] = {near ? median(sorted, 0, near) : found.near, median(sorted, near, far)};
        if (near > 0 && medians[1] >= RACK_FACTOR * medians[0] && within_share <= WITHIN) {
            found = (coll_row_split){COLL_ROW_CLEAR, medians[0], medians[1]};
            last_near = sorted[near - 1];
        } else if (found.near >= RACK_FACTOR * sorted[0]) {
            found.kind = COLL_ROW_UNCLEAR;
        }
    }
    for (int i = 0; i < count; i++)
        nearness[i] = seconds[i] >= most        ? COLL_AWAY
                      : seconds[i] <= last_near ? COLL_NEAR
                                                : COLL_FAR;
    return found;
}
