/*
 * How long many ranks wait, from what some of them do, half of these and a quarter: pure
 * arithmetic. A wait grows by a part that is a line over the ranks and one over their logarithm.
 */
#ifndef COLL_LIB_SCHEDULE_TREND_H
#define COLL_LIB_SCHEDULE_TREND_H

#include <stdbool.h>
#include <stdint.h>

enum { COLL_TREND_POINTS = 3 };
typedef struct coll_trend {
    int ranks;                        /* of the first point; each other one has half of them */
    int64_t waits[COLL_TREND_POINTS]; /* ns */
} coll_trend;

static inline int coll_trend_half(int ranks) {
    return (ranks + 1) / 2;
}

/*
 * What ALL wait, who are the ranks of the first point some times doubled. A PACE hardly grows as a
 * line unless it is one from the start, nor does what plans IN_STEP wait for: what looks like that
 * is chance.
 */
int64_t coll_trend_at(const coll_trend *trend, int all, bool pace, bool in_step);

#endif
