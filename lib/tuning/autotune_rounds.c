/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/autotune_rounds.h"

#include <string.h>

/* Tries may cost 1/PARTS of the total time. Algorithms whose times differ by less than 1/PARTS
 * count as equally fast. */
enum { PARTS = 50 };

enum { LEAST_BEST, LEAST_TRIED, ALL_TRIED };

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t divide_rounding_up(int64_t number, int64_t by) {
    return (number + by - 1) / by;
}

static void begin_try(coll_autotune_rounds *rounds, int which, int64_t from) {
    rounds->tried = which;
    rounds->from = from;
    memset(rounds->own, 0, sizeof rounds->own);
}

/* Plans the next try: which candidate, and from which call on. */
static void plan_next_try(coll_autotune_rounds *rounds) {
    const int64_t first = rounds->time[0], best = rounds->time[rounds->best];
    for (int i = 1; i < rounds->candidates.count && first > 0; i++) {
        const coll_choice *one = &rounds->candidates.of[i];
        const int64_t gain = best - first * (1000 - one->gain) / 1000,
                      cost = COLL_AUTOTUNE_TRY * larger(first * one->most / 1000 - best, 0);
        if (rounds->time[i] > 0 || one->gain == 0 || gain <= 0)
            continue;
        begin_try(
            rounds, i,
            larger(rounds->calls, larger(divide_rounding_up(PARTS * (rounds->extra + cost), best),
                                         divide_rounding_up(cost, gain))));
        return;
    }
    rounds->settled = true;
}

void coll_autotune_rounds_begin(coll_autotune_rounds *rounds, const coll_choices *candidates,
                                int pause) {
    *rounds = (coll_autotune_rounds){.candidates = *candidates, .pause = pause, .last = -1};
    /* not before earlier results are known: one agreement at a time */
    begin_try(rounds, 0, pause + 1 - COLL_AUTOTUNE_TRY);
}

void coll_autotune_rounds_set_known(coll_autotune_rounds *rounds, const int64_t times[]) {
    const int count = rounds->candidates.count;
    bool known = false;
    for (int i = 0; i < count; i++) {
        rounds->time[i] = times[i];
        if (times[i] > 0 && (!known || times[i] < times[rounds->best]))
            rounds->best = i;
        known = known || times[i] > 0;
    }
    if (known || count == 1)
        plan_next_try(rounds);
}

static bool is_trying(const coll_autotune_rounds *rounds) {
    return !rounds->settled && rounds->calls >= rounds->from &&
           rounds->calls < rounds->from + COLL_AUTOTUNE_TRY;
}

int coll_autotune_rounds_next(const coll_autotune_rounds *rounds) {
    return is_trying(rounds) ? rounds->tried : rounds->best;
}

void coll_autotune_rounds_skip_try(coll_autotune_rounds *rounds) {
    rounds->candidates.of[rounds->tried].gain = 0;
    plan_next_try(rounds);
}

static void record_time(coll_autotune_rounds *rounds, int turn, int64_t time) {
    int64_t *least = &rounds->own[turn == rounds->best ? LEAST_BEST : LEAST_TRIED];
    if (turn == rounds->last && (*least == 0 || time < *least))
        *least = time;
    if (turn != rounds->best)
        rounds->own[ALL_TRIED] += time;
}

bool coll_autotune_rounds_record(coll_autotune_rounds *rounds, int64_t time) {
    const int turn = coll_autotune_rounds_next(rounds);
    if (rounds->settled)
        return false;
    if (rounds->calls < rounds->from + COLL_AUTOTUNE_TRY)
        record_time(rounds, turn, time);
    rounds->last = turn;
    rounds->calls++;
    return rounds->calls == rounds->from + COLL_AUTOTUNE_TRY;
}

bool coll_autotune_rounds_due(const coll_autotune_rounds *rounds) {
    return !rounds->settled && rounds->calls == rounds->from + COLL_AUTOTUNE_TRY + rounds->pause;
}

void coll_autotune_rounds_use_agreed(coll_autotune_rounds *rounds, const int64_t agreed[]) {
    int64_t *best = &rounds->time[rounds->best], *tried = &rounds->time[rounds->tried];
    if (agreed[LEAST_BEST] > 0)
        *best = agreed[LEAST_BEST];
    if (tried != best) {
        *tried = agreed[LEAST_TRIED];
        rounds->extra += larger(agreed[ALL_TRIED] - COLL_AUTOTUNE_TRY * *best, 0);
        if (*tried < *best - *best / PARTS)
            rounds->best = rounds->tried;
    }
    plan_next_try(rounds);
}
