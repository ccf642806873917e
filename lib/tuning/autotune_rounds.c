/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/autotune_rounds.h"

#include <string.h>

/* Tries may take 1/PARTS of the total time; algorithms whose times differ by less are equally fast.
 */
enum { PARTS = 50 };

enum { LEAST_BEST, LEAST_TRIED, ALL_TRIED };

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t divide_rounding_up(int64_t number, int64_t by) {
    return (number + by - 1) / by;
}

static void begin_try(coll_autotune_rounds *lesson, int which, int64_t from) {
    lesson->tried = which;
    lesson->from = from;
    lesson->due = from + COLL_AUTOTUNE_TRY + COLL_AUTOTUNE_PAUSE;
    memset(lesson->own, 0, sizeof lesson->own);
}

/* Plans the next try: which candidate, and from which call on. */
static void plan_next_try(coll_autotune_rounds *lesson) {
    const int64_t first = lesson->time[0], best = lesson->time[lesson->best];
    for (int i = 1; i < lesson->candidates.count && first > 0; i++) {
        const coll_choice *one = &lesson->candidates.of[i];
        const int64_t gain = best - first * (1000 - one->gain) / 1000,
                      cost = COLL_AUTOTUNE_TRY * larger(first * one->most / 1000 - best, 0);
        if (lesson->time[i] > 0 || one->gain == 0 || gain <= 0)
            continue;
        begin_try(
            lesson, i,
            larger(lesson->calls, larger(divide_rounding_up(PARTS * (lesson->extra + cost), best),
                                         divide_rounding_up(cost, gain))));
        return;
    }
    lesson->settled = true;
}

void coll_autotune_rounds_begin(coll_autotune_rounds *lesson, const coll_choices *candidates) {
    *lesson = (coll_autotune_rounds){.candidates = *candidates, .last = -1};
    begin_try(lesson, 0, 0);
}

void coll_autotune_rounds_know(coll_autotune_rounds *lesson, const int64_t times[]) {
    const int count = lesson->candidates.count;
    bool known = false;
    for (int i = 0; i < count; i++) {
        lesson->time[i] = times[i];
        if (times[i] > 0 && (!known || times[i] < times[lesson->best]))
            lesson->best = i;
        known = known || times[i] > 0;
    }
    if (known || count == 1)
        plan_next_try(lesson);
}

static bool is_trying(const coll_autotune_rounds *lesson) {
    return !lesson->settled && lesson->calls >= lesson->from &&
           lesson->calls < lesson->from + COLL_AUTOTUNE_TRY;
}

int coll_autotune_rounds_turn(const coll_autotune_rounds *lesson) {
    return is_trying(lesson) ? lesson->tried : lesson->best;
}

void coll_autotune_rounds_leave_out(coll_autotune_rounds *lesson) {
    lesson->candidates.of[lesson->tried].gain = 0;
    plan_next_try(lesson);
}

static void record_time(coll_autotune_rounds *lesson, int turn, int64_t time) {
    int64_t *least = &lesson->own[turn == lesson->best ? LEAST_BEST : LEAST_TRIED];
    if (turn == lesson->last && (*least == 0 || time < *least))
        *least = time;
    if (turn != lesson->best)
        lesson->own[ALL_TRIED] += time;
}

bool coll_autotune_rounds_take(coll_autotune_rounds *lesson, int64_t time) {
    const int turn = coll_autotune_rounds_turn(lesson);
    if (lesson->settled)
        return false;
    if (lesson->calls < lesson->from + COLL_AUTOTUNE_TRY)
        record_time(lesson, turn, time);
    lesson->last = turn;
    lesson->calls++;
    return lesson->calls == lesson->from + COLL_AUTOTUNE_TRY;
}

bool coll_autotune_rounds_due(const coll_autotune_rounds *lesson) {
    return !lesson->settled && lesson->calls == lesson->due;
}

void coll_autotune_rounds_heed(coll_autotune_rounds *lesson, const int64_t agreed[]) {
    int64_t *best = &lesson->time[lesson->best], *tried = &lesson->time[lesson->tried];
    if (agreed[LEAST_BEST] > 0)
        *best = agreed[LEAST_BEST];
    if (tried != best) {
        *tried = agreed[LEAST_TRIED];
        lesson->extra += larger(agreed[ALL_TRIED] - COLL_AUTOTUNE_TRY * *best, 0);
        if (*tried < *best - *best / PARTS)
            lesson->best = lesson->tried;
    }
    plan_next_try(lesson);
}
