/*
 * The rule by which the fastest algorithm is found: with whatever times, all ranks run the same one
 * in each call, it ends in time, and what is slow costs little.
 */
#include "config.h"

#include "lib/operation/lesson.h"
#include "tests/generator.h"
#include "tests/harness.h"

#include <check.h>
#include <stdlib.h>

enum { RANKS = 5, SETTLED = 19, CALLS = 40 };

/* What ALGORITHM takes on RANK in the CALL-th call. */
typedef int64_t clock_of(void *context, int algorithm, int rank, int call);

typedef struct course {
    int calls; /* until it was settled */
    int best;
    int ran[COLL_LESSON_MOST];
    int turn[CALLS];
} course;

/* All ranks' lessons, side by side, with agreements on the largest times. */
static course teach(int count, clock_of *clock, void *context) {
    coll_lesson lesson[RANKS];
    int64_t largest[COLL_LESSON_TIMES];
    course made = {.calls = -1};
    for (int rank = 0; rank < RANKS; rank++)
        coll_lesson_begin(&lesson[rank]);
    for (int call = 0; call < CALLS; call++) {
        for (int rank = 0; rank < RANKS; rank++) {
            if (coll_lesson_lonely(&lesson[rank]))
                coll_lesson_meet(&lesson[rank], count);
            if (coll_lesson_due(&lesson[rank]))
                coll_lesson_heed(&lesson[rank], largest);
        }
        if (lesson[0].settled && made.calls < 0)
            made.calls = call;
        int turn = coll_lesson_turn(&lesson[0]), agreeing = 0;
        ck_assert_int_lt(turn, count);
        for (int rank = 0; rank < RANKS; rank++) {
            ck_assert_int_eq(coll_lesson_turn(&lesson[rank]), turn);
            agreeing += coll_lesson_take(&lesson[rank], clock(context, turn, rank, call));
        }
        made.ran[turn] += made.calls < 0;
        made.turn[call] = turn;
        ck_assert(agreeing == 0 || agreeing == RANKS);
        for (int i = 0; agreeing && i < coll_lesson_times(&lesson[0]); i++) {
            largest[i] = 0;
            for (int rank = 0; rank < RANKS; rank++)
                if (lesson[rank].time[i] > largest[i])
                    largest[i] = lesson[rank].time[i];
        }
    }
    made.best = made.turn[CALLS - 1];
    for (int call = made.calls; call < CALLS; call++)
        ck_assert_int_eq(made.turn[call], made.best);
    return made;
}

/* Times of their own, and up to so many percent more, on any rank in any call. */
typedef struct world {
    generator random;
    int64_t time[COLL_LESSON_MOST];
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

START_TEST(it_ends_with_one_of_the_fastest) {
    for (int seed = 0; seed < 20000; seed++) {
        world w = {.random = {(uint64_t)seed}, .noise = 2};
        int count = 1 + below(&w.random, COLL_LESSON_MOST);
        for (int i = 0; i < COLL_LESSON_MOST; i++)
            w.time[i] = 1000 * (100 + below(&w.random, seed % 2 ? 40 : 1000));
        course made = teach(count, noisy, &w);
        ck_assert_int_ge(made.calls, count > 1 ? 5 : 2);
        ck_assert_int_le(made.calls, SETTLED);
        ck_assert_int_le(w.time[made.best] * 100, least_of(&w, count) * 105);
    }
}
END_TEST

/* So that what is tried in vain is little of what a long program does. */
START_TEST(what_is_slow_runs_once) {
    for (int slow = 1; slow < COLL_LESSON_MOST; slow++) {
        world w = {.random = {1}, .time = {1000, 1000, 1000, 1000, 1000}};
        w.time[slow] = 3001;
        course made = teach(COLL_LESSON_MOST, noisy, &w);
        ck_assert_int_eq(made.ran[slow], 1);
        ck_assert_int_eq(made.best, 0);
    }
}
END_TEST

START_TEST(no_algorithm_runs_often_that_is_not_the_best_known) {
    for (int seed = 0; seed < 5000; seed++) {
        world w = {.random = {(uint64_t)seed}, .noise = 100};
        for (int i = 0; i < COLL_LESSON_MOST; i++)
            w.time[i] = 1000 + below(&w.random, 5000);
        course made = teach(COLL_LESSON_MOST, noisy, &w);
        int tried = 0;
        for (int i = 0; i < COLL_LESSON_MOST; i++)
            tried += i != made.best ? made.ran[i] : 0;
        ck_assert_int_le(tried, 17);
    }
}
END_TEST

START_TEST(what_is_as_fast_goes_by_its_price) {
    world w = {.random = {1}, .time = {1000, 990, 985, 1000, 990}};
    ck_assert_int_eq(teach(COLL_LESSON_MOST, noisy, &w).best, 0);
    w.time[3] = 970;
    ck_assert_int_eq(teach(COLL_LESSON_MOST, noisy, &w).best, 3);
}
END_TEST

/* The first call of each, as ranks that meet for the first time take longer. */
static int64_t cold(void *context, int algorithm, int rank, int call) {
    bool *warm = context;
    int64_t usual = algorithm == 1 ? 100 : 150;
    bool first = !warm[algorithm];
    warm[algorithm] = warm[algorithm] || rank == RANKS - 1;
    (void)call;
    return first ? 2 * usual + 100 * algorithm : usual;
}

START_TEST(first_calls_do_not_count) {
    bool warm[COLL_LESSON_MOST] = {false};
    ck_assert_int_eq(teach(3, cold, warm).best, 1);
}
END_TEST

/* After a call of another kind it seems to be short. */
static int64_t overlapped(void *context, int algorithm, int rank, int call) {
    int *last = context;
    bool other = *last != algorithm;
    *last = rank == RANKS - 1 ? algorithm : *last;
    (void)call;
    return (algorithm == 0 ? 100 : 110) - (other && algorithm > 0 ? 40 : 0);
}

START_TEST(calls_after_others_do_not_count) {
    int last = 0;
    ck_assert_int_eq(teach(2, overlapped, &last).best, 0);
}
END_TEST

/* One call is ten times as long as usual. */
static int64_t disturbed(void *context, int algorithm, int rank, int call) {
    const int *when = context;
    return (algorithm == 1 ? 100 : 120) * (call == *when && rank == 3 ? 10 : 1);
}

/* Not in the first round, which goes by a single call. */
START_TEST(a_disturbance_is_no_matter) {
    for (int when = 6; when < SETTLED; when++)
        ck_assert_int_eq(teach(2, disturbed, &when).best, 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("lesson");
    TCase *cases = tcase_create("lesson");
    tcase_add_test(cases, it_ends_with_one_of_the_fastest);
    tcase_add_test(cases, what_is_slow_runs_once);
    tcase_add_test(cases, no_algorithm_runs_often_that_is_not_the_best_known);
    tcase_add_test(cases, what_is_as_fast_goes_by_its_price);
    tcase_add_test(cases, first_calls_do_not_count);
    tcase_add_test(cases, calls_after_others_do_not_count);
    tcase_add_test(cases, a_disturbance_is_no_matter);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
