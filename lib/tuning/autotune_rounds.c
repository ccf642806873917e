/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/autotune_rounds.h"

#include <math.h>
#include <string.h>

/* Tries may cost 1/PARTS of the total time. Algorithms whose times differ by less than 1/PARTS
 * count as equally fast. */
enum { PARTS = 50 };

enum { MEDIAN_BEST, QUARTILE_BEST, MEDIAN_TRIED, ALL_TRIED };

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t divide_rounding_up(int64_t number, int64_t by) {
    return (number + by - 1) / by;
}

static bool is_brief(const coll_autotune_rounds *rounds) {
    const int64_t time = rounds->time[rounds->best];
    return time > 0 && time < COLL_AUTOTUNE_BRIEF;
}

/* Returns the number of calls of the current or next try; the first of them is not timed. */
static int calls_of_try(const coll_autotune_rounds *rounds) {
    return is_brief(rounds) ? 1 + COLL_AUTOTUNE_RECENT : COLL_AUTOTUNE_TRY;
}

static void begin_try(coll_autotune_rounds *rounds, int which, int64_t from) {
    rounds->tried = which;
    rounds->from = from;
    rounds->best_times.count = rounds->tried_times.count = 0;
    memset(rounds->own, 0, sizeof rounds->own);
}

/* Plans the next try: which candidate, and from which call on. */
static void plan_next_try(coll_autotune_rounds *rounds) {
    const int calls = calls_of_try(rounds);
    const int64_t first = rounds->time[0], best = rounds->time[rounds->best],
                  earliest = rounds->calls + (is_brief(rounds) ? calls : 0);
    for (int i = 1; i < rounds->candidates.count && first > 0; i++) {
        const coll_choice *one = &rounds->candidates.of[i];
        const int64_t gain = best - first * (1000 - one->gain) / 1000,
                      cost = calls * larger(first * one->most / 1000 - best, 0);
        if (rounds->time[i] > 0 || one->gain == 0 || gain <= 0)
            continue;
        begin_try(rounds, i,
                  larger(earliest, larger(divide_rounding_up(PARTS * (rounds->extra + cost), best),
                                          divide_rounding_up(cost, gain))));
        return;
    }
    rounds->settled = true;
}

/*
 * Corrects what is expected of the other candidates if the chosen one, which takes TIME ns, was
 * predicted to take far less. What slows it down may slow down all of them, or none: the square
 * root is between the two. Where chosen algorithms took 1.5 to 5 times as long as predicted, half
 * of the others were faster.
 */
static void correct_expectations(coll_autotune_rounds *rounds, int64_t time) {
    const double far = 1.5, factor = 1e-9 * (double)time / rounds->candidates.of[0].predicted;
    for (int i = 1; i < rounds->candidates.count && factor > far; i++) {
        coll_choice *one = &rounds->candidates.of[i];
        one->most = (int)ceil(one->most / sqrt(factor));
        one->gain = 1000 - (int)ceil((1000 - one->gain) / sqrt(factor));
    }
}

void coll_autotune_rounds_begin(coll_autotune_rounds *rounds, const coll_choices *candidates,
                                int pause) {
    *rounds = (coll_autotune_rounds){.candidates = *candidates, .pause = pause, .last = -1};
    /* not before earlier results are known: one agreement at a time */
    begin_try(rounds, 0, larger(pause + 1 - COLL_AUTOTUNE_TRY, 0));
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
           rounds->calls < rounds->from + calls_of_try(rounds);
}

int coll_autotune_rounds_next(const coll_autotune_rounds *rounds) {
    return is_trying(rounds) ? rounds->tried : rounds->best;
}

void coll_autotune_rounds_skip_try(coll_autotune_rounds *rounds) {
    rounds->candidates.of[rounds->tried].gain = 0;
    plan_next_try(rounds);
}

static void add_time(coll_recent_times *times, int64_t time) {
    times->of[times->count++ % COLL_AUTOTUNE_RECENT] = time;
}

/* Returns the median of TIMES if PART is 2, the lower quartile if PART is 4; 0 if there are no
 * times. */
static int64_t quantile(const coll_recent_times *times, int part) {
    int64_t sorted[COLL_AUTOTUNE_RECENT] = {0};
    const int count =
        (int)(times->count < COLL_AUTOTUNE_RECENT ? times->count : COLL_AUTOTUNE_RECENT);
    for (int i = 0, j; i < count; i++) {
        for (j = i; j > 0 && sorted[j - 1] > times->of[i]; j--)
            sorted[j] = sorted[j - 1];
        sorted[j] = times->of[i];
    }
    return sorted[count / part];
}

static void record_time(coll_autotune_rounds *rounds, int turn, int64_t time) {
    const bool is_best = turn == rounds->best;
    if (turn == rounds->last)
        add_time(is_best ? &rounds->best_times : &rounds->tried_times, time);
    if (!is_best)
        rounds->own[ALL_TRIED] += time;
}

bool coll_autotune_rounds_record(coll_autotune_rounds *rounds, int64_t time) {
    const int turn = coll_autotune_rounds_next(rounds);
    if (rounds->settled)
        return false;
    if (rounds->calls < rounds->from + calls_of_try(rounds))
        record_time(rounds, turn, time);
    rounds->last = turn;
    rounds->calls++;
    if (rounds->calls != rounds->from + calls_of_try(rounds))
        return false;
    rounds->own[MEDIAN_BEST] = quantile(&rounds->best_times, 2);
    rounds->own[QUARTILE_BEST] = quantile(&rounds->best_times, 4);
    rounds->own[MEDIAN_TRIED] = quantile(&rounds->tried_times, 2);
    return true;
}

bool coll_autotune_rounds_due(const coll_autotune_rounds *rounds) {
    return !rounds->settled && rounds->calls == rounds->from + calls_of_try(rounds) + rounds->pause;
}

void coll_autotune_rounds_use_agreed(coll_autotune_rounds *rounds, const int64_t agreed[]) {
    int64_t *best = &rounds->time[rounds->best], *tried = &rounds->time[rounds->tried];
    const int64_t calls = calls_of_try(rounds),
                  quartile = is_brief(rounds) ? agreed[QUARTILE_BEST] : 0;
    if (agreed[MEDIAN_BEST] > 0)
        *best = agreed[MEDIAN_BEST];
    if (tried == best)
        correct_expectations(rounds, *best);
    else {
        *tried = agreed[MEDIAN_TRIED];
        rounds->extra += larger(agreed[ALL_TRIED] - calls * *best, 0);
        if (*tried < (quartile > 0 ? quartile : *best) - *best / PARTS)
            rounds->best = rounds->tried;
    }
    plan_next_try(rounds);
}
