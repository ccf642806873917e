/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the rule that finds a faster algorithm: whatever the times, all ranks run the same
 * algorithm in each call, trials cost little of the time so far, and the fastest algorithm found is
 * used.
 */
#include "config.h"

#include "lib/tuning/autotune_rounds.h"
#include "tests/support/generator.h"
#include "tests/support/harness.h"

#include <check.h>
#include <stdlib.h>

enum { RANKS = 5, CALLS = 3000, PARTS = 50 };

/* Tests give times in units of UNIT ns, so that calls are not brief, or of 1 ns. */
enum { UNIT = 100000 };

/* Returns the time of ALGORITHM on RANK in call CALL. */
typedef int64_t clock_of(void *context, int algorithm, int rank, int call);

/* The expected times of algorithms, and their times known from earlier runs after PAUSE calls. */
typedef struct candidates {
    coll_choices expected;
    int64_t known[COLL_LIKELY];
    int left_out; /* 0 for none */
    int pause;
    int unit; /* ns */
} candidates;

typedef struct outcome {
    int settled; /* the call at which it settled; -1 for never */
    int best;
    int ran[COLL_LIKELY];
    int turn[CALLS];
} outcome;

static void handle_agreements(coll_autotune_rounds *rounds, const candidates *all, int call,
                              const int64_t largest[]) {
    int64_t known[COLL_LIKELY];
    for (int i = 0; i < COLL_LIKELY; i++)
        known[i] = all->unit * all->known[i];
    if (call == all->pause)
        coll_autotune_rounds_set_known(rounds, known);
    if (coll_autotune_rounds_due(rounds))
        coll_autotune_rounds_use_agreed(rounds, largest);
    if (all->left_out && coll_autotune_rounds_next(rounds) == all->left_out)
        coll_autotune_rounds_skip_try(rounds);
}

/* Runs the trials of all ranks in one process, with agreements on the largest times. */
static outcome run_calls(const candidates *all, clock_of *clock, void *context) {
    coll_autotune_rounds rounds[RANKS];
    int64_t largest[COLL_AUTOTUNE_TIMES];
    outcome made = {.settled = -1};
    for (int rank = 0; rank < RANKS; rank++)
        coll_autotune_rounds_begin(&rounds[rank], &all->expected, all->pause);
    for (int call = 0; call < CALLS; call++) {
        for (int rank = 0; rank < RANKS; rank++)
            handle_agreements(&rounds[rank], all, call, largest);
        if (rounds[0].settled && made.settled < 0)
            made.settled = call;
        int turn = coll_autotune_rounds_next(&rounds[0]), agreeing = 0;
        ck_assert_int_lt(turn, all->expected.count);
        for (int rank = 0; rank < RANKS; rank++) {
            ck_assert_int_eq(coll_autotune_rounds_next(&rounds[rank]), turn);
            agreeing += coll_autotune_rounds_record(&rounds[rank],
                                                    all->unit * clock(context, turn, rank, call));
        }
        made.ran[turn]++;
        made.turn[call] = turn;
        ck_assert(agreeing == 0 || agreeing == RANKS);
        ck_assert(agreeing == 0 || call >= all->pause); /* no two agreements at the same time */
        for (int i = 0; agreeing && i < COLL_AUTOTUNE_TIMES; i++) {
            largest[i] = 0;
            for (int rank = 0; rank < RANKS; rank++)
                if (rounds[rank].own[i] > largest[i])
                    largest[i] = rounds[rank].own[i];
        }
    }
    made.best = made.turn[CALLS - 1];
    for (int call = made.settled; call >= 0 && call < CALLS; call++)
        ck_assert_int_eq(made.turn[call], made.best);
    return made;
}

/*
 * Returns COUNT algorithms, each of which is expected to gain a tenth, and to cost at most a tenth.
 * The first takes less than predicted.
 */
static candidates equal_candidates(int count) {
    candidates made = {.expected = {.count = count}, .pause = 2, .unit = UNIT};
    for (int i = 0; i < COLL_LIKELY; i++)
        made.expected.of[i] = (coll_choice){.most = i ? 1100 : 1000, .gain = i ? 100 : 0};
    made.expected.of[0].predicted = 1e6;
    return made;
}

/* Times of algorithms, plus up to some percent of noise on any rank in any call. */
typedef struct world {
    generator random;
    int64_t time[COLL_LIKELY];
    int noise;
} world;

static int64_t noisy(void *context, int algorithm, int rank, int call) {
    world *w = context;
    (void)rank, (void)call;
    return w->time[algorithm] + w->time[algorithm] * below(&w->random, w->noise + 1) / 100;
}

static int64_t least_of(const world *w, int count) {
    int64_t least = w->time[0];
    for (int i = 1; i < count; i++)
        least = w->time[i] < least ? w->time[i] : least;
    return least;
}

static int first_try(const outcome *made) {
    int call = 0;
    while (call < CALLS && made->turn[call] == 0)
        call++;
    return call;
}

START_TEST(it_ends_with_one_of_the_fastest) {
    for (int seed = 0; seed < 1000; seed++) {
        world w = {.random = {(uint64_t)seed}, .noise = 2};
        candidates all = equal_candidates(1 + below(&w.random, COLL_LIKELY));
        all.pause += below(&w.random, 12);
        for (int i = 0; i < COLL_LIKELY; i++)
            w.time[i] = 1000 * (900 + below(&w.random, 201));
        for (int i = 1; i < all.expected.count; i++) {
            all.expected.of[i].most = (int)(1 + 1000 * w.time[i] / w.time[0]);
            all.expected.of[i].gain =
                all.expected.of[i].most < 1000 ? 1001 - all.expected.of[i].most : 1;
        }
        outcome made = run_calls(&all, noisy, &w);
        ck_assert_int_le(w.time[made.best] * 100, least_of(&w, all.expected.count) * 105);
    }
}
END_TEST

/* The limit holds for all expected costs that are right. */
START_TEST(tries_cost_a_fiftieth_of_all_time_at_most) {
    for (int seed = 0; seed < 1000; seed++) {
        world w = {.random = {(uint64_t)seed}};
        candidates all = equal_candidates(COLL_LIKELY);
        for (int i = 0; i < COLL_LIKELY; i++)
            w.time[i] = 1000 * (i ? 500 + below(&w.random, 2000) : 1000);
        for (int i = 1; i < COLL_LIKELY; i++) {
            all.expected.of[i].most = (int)(w.time[i] / 1000) + below(&w.random, 1000);
            all.expected.of[i].gain = 1 + below(&w.random, 1000);
        }
        outcome made = run_calls(&all, noisy, &w);
        int64_t spent = 0, extra = 0;
        int runs = 0, row = 0; /* the algorithm that runs apart from trials, and the calls of one
                                  kind in a row */
        for (int call = 0; call < CALLS; call++) {
            int turn = made.turn[call];
            row = call > 0 && turn == made.turn[call - 1] ? row + 1 : 1;
            runs = row > COLL_AUTOTUNE_TRY ? turn : runs;
            extra += w.time[turn] > w.time[runs] ? w.time[turn] - w.time[runs] : 0;
            spent += w.time[turn];
            ck_assert_int_le(PARTS * extra, spent);
        }
    }
}
END_TEST

START_TEST(nothing_is_tried_in_a_few_calls) {
    world w = {.time = {1000, 500, 500, 500, 500}};
    candidates all = equal_candidates(COLL_LIKELY);
    outcome made = run_calls(&all, noisy, &w);
    ck_assert_int_ge(first_try(&made), PARTS * COLL_AUTOTUNE_TRY / 10);
}
END_TEST

/* Other algorithms then seem to take half as long as this one takes, so trying them costs nothing.
 */
START_TEST(others_are_tried_at_once_if_the_first_takes_four_times_as_long) {
    world w = {.time = {1000, 900}};
    candidates all = equal_candidates(2);
    all.expected.of[0].predicted = 1e-9 * UNIT * 250;
    outcome made = run_calls(&all, noisy, &w);
    ck_assert_int_eq(first_try(&made), COLL_AUTOTUNE_TRY + all.pause);
    ck_assert_int_eq(made.best, 1);
}
END_TEST

/* A trial is not made if it would gain less than it costs, in as many further calls as there were
 * before it. */
START_TEST(nothing_is_tried_that_does_not_pay) {
    world w = {.time = {1000, 990}};
    candidates all = equal_candidates(2);
    all.expected.of[1].gain = 1;
    outcome made = run_calls(&all, noisy, &w);
    ck_assert_int_ge(first_try(&made), COLL_AUTOTUNE_TRY * 100);
    all.expected.of[1].gain = 0;
    made = run_calls(&all, noisy, &w);
    ck_assert_int_eq(made.ran[1], 0);
    ck_assert_int_ge(made.settled, 0);
}
END_TEST

/* Until its cost is a fiftieth of all time, there are no other trials either. */
START_TEST(what_took_far_longer_than_expected_never_runs_again) {
    world w = {.time = {1000, 4000, 900}};
    candidates all = equal_candidates(3);
    outcome made = run_calls(&all, noisy, &w);
    ck_assert_int_eq(made.ran[1], COLL_AUTOTUNE_TRY);
    ck_assert_int_eq(made.best, 2);
    int call = 0;
    while (made.turn[call] != 2)
        call++;
    ck_assert_int_ge(call, PARTS * COLL_AUTOTUNE_TRY * 3);
}
END_TEST

START_TEST(what_is_as_fast_does_not_take_over) {
    world w = {.time = {1000, 990, 985, 1000, 990}};
    candidates all = equal_candidates(COLL_LIKELY);
    ck_assert_int_eq(run_calls(&all, noisy, &w).best, 0);
    w.time[3] = 970;
    ck_assert_int_eq(run_calls(&all, noisy, &w).best, 3);
}
END_TEST

/*
 * The first call of each algorithm takes longer, as between ranks that communicate for the first
 * time.
 */
static int64_t cold(void *context, int algorithm, int rank, int call) {
    bool *warm = context;
    int64_t usual = algorithm == 1 ? 100 : 150;
    bool first = !warm[algorithm];
    warm[algorithm] = warm[algorithm] || rank == RANKS - 1;
    (void)call;
    return first ? 2 * usual + 100 * algorithm : usual;
}

START_TEST(first_calls_do_not_count) {
    bool warm[COLL_LIKELY] = {false};
    candidates all = equal_candidates(3);
    ck_assert_int_eq(run_calls(&all, cold, warm).best, 1);
}
END_TEST

/* A call seems short after a call of another kind. */
static int64_t overlapped(void *context, int algorithm, int rank, int call) {
    int *last = context;
    bool other = *last != algorithm;
    *last = rank == RANKS - 1 ? algorithm : *last;
    (void)call;
    return (algorithm == 0 ? 100 : 110) - (other && algorithm > 0 ? 40 : 0);
}

START_TEST(calls_after_others_do_not_count) {
    int last = 0;
    candidates all = equal_candidates(2);
    ck_assert_int_eq(run_calls(&all, overlapped, &last).best, 0);
}
END_TEST

/* One call takes ten times as long as usual. */
static int64_t disturbed(void *context, int algorithm, int rank, int call) {
    const int *when = context;
    return (algorithm == 1 ? 100 : 120) * (call == *when && rank == 3 ? 10 : 1);
}

START_TEST(a_disturbance_is_no_matter) {
    candidates all = equal_candidates(2);
    for (int when = 0; when < 40; when++)
        ck_assert_int_eq(run_calls(&all, disturbed, &when).best, 1);
}
END_TEST

/*
 * With algorithm 1 half of the ranks lose packets in each call. They are late in the next one, and
 * leave that at once, since their data is there.
 */
static int64_t late(void *context, int algorithm, int rank, int call) {
    (void)context;
    return algorithm == 0 ? 100 : (rank + call) % 2 ? 20 : 190;
}

START_TEST(ranks_that_are_late_do_not_decide) {
    candidates all = equal_candidates(2);
    ck_assert_int_eq(run_calls(&all, late, NULL).best, 0);
}
END_TEST

/* Calls take up to four times as long on all ranks, now and then. */
static int64_t disturbed_often(void *context, int algorithm, int rank, int call) {
    const world *w = context;
    generator random = {(uint64_t)call + w->random.state};
    (void)rank;
    return w->time[algorithm] * (100 + below(&random, 301)) / 100;
}

/* Where brief calls vary that much, one that takes 1.5 times as long seldom seems faster, and one
 * that takes half as long does. */
START_TEST(brief_calls_that_vary_are_compared_with_care) {
    int slower = 0, faster = 0;
    enum { SEEDS = 200 };
    for (int seed = 0; seed < SEEDS; seed++) {
        world w = {.random = {(uint64_t)seed * CALLS}, .time = {100000, 150000}};
        candidates all = equal_candidates(2);
        all.unit = 1;
        slower += run_calls(&all, disturbed_often, &w).best;
        w.time[1] = 40000;
        outcome made = run_calls(&all, disturbed_often, &w);
        faster += made.best;
        ck_assert_int_ge(first_try(&made), COLL_AUTOTUNE_TRY + COLL_AUTOTUNE_RECENT);
    }
    ck_assert_int_le(slower, SEEDS / 50);
    ck_assert_int_ge(faster, SEEDS * 9 / 10);
}
END_TEST

START_TEST(what_is_known_from_before_holds) {
    world w = {.time = {1000, 500, 900, 800}};
    candidates all = equal_candidates(4);
    all.expected.of[3].gain = 200;
    all.known[0] = 1000;
    all.known[1] = 1500; /* the time that was known then */
    all.known[2] = 900;
    outcome made = run_calls(&all, noisy, &w);
    ck_assert_int_eq(made.turn[1], 0);
    ck_assert_int_eq(made.turn[2], 2);
    ck_assert_int_eq(made.ran[0], 2);
    ck_assert_int_eq(made.ran[1], 0);
    ck_assert_int_eq(made.best, 3); /* an algorithm without a known time is tried */
    all.known[0] = 0;               /* no time is known */
    ck_assert_int_eq(run_calls(&all, noisy, &w).settled, 2);
}
END_TEST

START_TEST(what_is_left_out_never_runs) {
    world w = {.time = {1000, 500, 900}};
    candidates all = equal_candidates(3);
    all.left_out = 1;
    outcome made = run_calls(&all, noisy, &w);
    ck_assert_int_eq(made.ran[1], 0);
    ck_assert_int_eq(made.best, 2);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("autotune_rounds");
    TCase *cases = tcase_create("autotune_rounds");
    tcase_add_test(cases, it_ends_with_one_of_the_fastest);
    tcase_add_test(cases, tries_cost_a_fiftieth_of_all_time_at_most);
    tcase_add_test(cases, nothing_is_tried_in_a_few_calls);
    tcase_add_test(cases, others_are_tried_at_once_if_the_first_takes_four_times_as_long);
    tcase_add_test(cases, nothing_is_tried_that_does_not_pay);
    tcase_add_test(cases, what_took_far_longer_than_expected_never_runs_again);
    tcase_add_test(cases, what_is_as_fast_does_not_take_over);
    tcase_add_test(cases, first_calls_do_not_count);
    tcase_add_test(cases, calls_after_others_do_not_count);
    tcase_add_test(cases, a_disturbance_is_no_matter);
    tcase_add_test(cases, ranks_that_are_late_do_not_decide);
    tcase_add_test(cases, brief_calls_that_vary_are_compared_with_care);
    tcase_add_test(cases, what_is_known_from_before_holds);
    tcase_add_test(cases, what_is_left_out_never_runs);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
