/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the fixed tree of reductions, and the exchange that carries its parts, for any order and
 * number of ranks.
 */
#include "cdcp/reduction_tree.h"
#include "lib/pattern/multiply.h"
#include "tests/support/harness.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 70 };

/*
 * Combines two values neither associatively nor commutatively, so that every other tree or side
 * gives another value.
 */
static int mix(void *into, const void *with, void *context) {
    uint64_t *a = into;
    uint64_t b;
    memcpy(&b, with, sizeof b);
    *a = *a * 6364136223846793005u + (b ^ b >> 29) * 1442695040888963407u;
    ++*(int *)context;
    return 0;
}

static uint64_t tree_value(int first, int size, int leaves) {
    if (size == 1)
        return (uint64_t)first + 1;
    uint64_t value = tree_value(first, size / 2, leaves);
    int ignored = 0;
    if (first + size / 2 < leaves) {
        uint64_t right = tree_value(first + size / 2, size / 2, leaves);
        mix(&value, &right, &ignored);
    }
    return value;
}

static uint64_t expected(int leaves) {
    int size = 1;
    while (size < leaves)
        size *= 2;
    return tree_value(0, size, leaves);
}

static void add(coll_reduction_tree *forest, int first, int height, const void *value) {
    int error, mixed = 0;
    ck_assert(coll_reduction_tree_add(forest, first, height, value, mix, &mixed, &error));
    ck_assert_int_eq(error, 0);
}

static void add_leaf(coll_reduction_tree *forest, int leaf) {
    uint64_t value = (uint64_t)leaf + 1;
    add(forest, leaf, 0, &value);
}

static void add_forest(coll_reduction_tree *to, const coll_reduction_tree *from) {
    for (int i = 0; i < from->count; i++)
        add(to, from->nodes[i].first, from->nodes[i].height, coll_reduction_tree_value(from, i));
}

/* Returns whether one node covers all leaves. */
static bool is_complete(const coll_reduction_tree *forest) {
    return forest->count == 1 && forest->nodes[0].first == 0 &&
           1LL << forest->nodes[0].height >= forest->leaves;
}

static void check_result(const coll_reduction_tree *forest) {
    uint64_t value;
    ck_assert(is_complete(forest));
    memcpy(&value, coll_reduction_tree_value(forest, 0), sizeof value);
    ck_assert_msg(value == expected(forest->leaves), "%d leaves", forest->leaves);
}

static void shuffle(int order[], int count) {
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = rand() % (i + 1), swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
}

START_TEST(any_order_of_arrival) {
    srand(1);
    coll_reduction_tree forest = {0}; /* used for all trees, as a DCP reuses it */
    for (int leaves = 1; leaves <= MOST; leaves++)
        for (int round = 0; round < 20; round++) {
            int order[MOST];
            shuffle(order, leaves);
            ck_assert(coll_reduction_tree_begin(&forest, leaves, sizeof(uint64_t), round % 5));
            for (int i = 0; i < leaves; i++) {
                ck_assert(!is_complete(&forest));
                add_leaf(&forest, order[i]);
            }
            check_result(&forest);
        }
    coll_reduction_tree_free(&forest);
}
END_TEST

/* Distributes leaves over stations at random, whose forests are then combined in any order. */
START_TEST(any_number_of_stations) {
    srand(2);
    for (int round = 0; round < 2000; round++) {
        int leaves = 1 + rand() % MOST, stations = 1 + rand() % 8, order[8];
        coll_reduction_tree forests[9] = {{0}};
        for (int i = 0; i <= stations; i++)
            ck_assert(coll_reduction_tree_begin(&forests[i], leaves, sizeof(uint64_t), 1));
        for (int leaf = 0; leaf < leaves; leaf++)
            add_leaf(&forests[rand() % stations], leaf);
        shuffle(order, stations);
        for (int i = 0; i < stations; i++)
            add_forest(&forests[stations], &forests[order[i]]);
        check_result(&forests[stations]);
        for (int i = 0; i <= stations; i++)
            coll_reduction_tree_free(&forests[i]);
    }
}
END_TEST

START_TEST(consecutive_ranks_are_few_nodes) {
    coll_reduction_tree forest = {0};
    for (int first = 0; first < 64; first++) {
        ck_assert(coll_reduction_tree_begin(&forest, 1000, sizeof(uint64_t), 1));
        for (int leaf = first; leaf < first + 64; leaf++)
            add_leaf(&forest, leaf);
        ck_assert_int_le(forest.count, 12);
        ck_assert(first > 0 || forest.count == 1);
    }
    coll_reduction_tree_free(&forest);
}
END_TEST

START_TEST(values_of_any_size) {
    coll_reduction_tree forest = {0};
    int ignored, mixed = 0;
    for (size_t bytes = 0; bytes <= 40;
         bytes += 8) { /* includes no bytes, and smaller sizes after larger ones */
        char value[40] = {0};
        size_t size = bytes == 40 ? 8 : bytes;
        ck_assert(coll_reduction_tree_begin(&forest, 1, size, 1));
        ck_assert(coll_reduction_tree_add(&forest, 0, 0, value, mix, &mixed, &ignored));
        ck_assert(is_complete(&forest));
    }
    coll_reduction_tree_free(&forest);
}
END_TEST

static int refuse(void *into, const void *with, void *context) {
    (void)into, (void)with, (void)context;
    return 7;
}

START_TEST(errors_of_combining) {
    coll_reduction_tree forest = {0};
    int error;
    ck_assert(coll_reduction_tree_begin(&forest, 2, 1, 2));
    ck_assert(coll_reduction_tree_add(&forest, 1, 0, "a", refuse, NULL, &error) && error == 0);
    ck_assert(coll_reduction_tree_add(&forest, 0, 0, "b", refuse, NULL, &error) && error == 7);
    coll_reduction_tree_free(&forest);
}
END_TEST

/*
 * Runs the exchange of P positions stage by stage. After each stage a position holds the
 * contributions of a range of positions, and after the last stage all.
 */
static void run_exchange(int p, int radix) {
    static bool has[MOST][MOST];
    coll_multiply_stage stages[MOST][COLL_MULTIPLY_STAGES];
    int count[MOST], deepest = 0;
    bool twice = false;
    memset(has, 0, sizeof has);
    for (int i = 0; i < p; i++) {
        has[i][i] = true;
        count[i] = coll_multiply_stages(p, radix, i, stages[i]);
        deepest = count[i] > deepest ? count[i] : deepest;
    }
    for (int depth = deepest - 1; depth >= 0; depth--) {
        static bool before[MOST][MOST];
        int sent = 0, received = 0;
        memcpy(before, has, sizeof has);
        for (int i = 0; i < p; i++)
            for (int s = 0; s < count[i]; s++) {
                const coll_multiply_stage *stage = &stages[i][s];
                ck_assert_int_eq(stage->depth, count[i] - 1 - s);
                ck_assert_int_lt(stage->receives, radix);
                ck_assert_int_lt(stage->sends, 2 * radix);
                if (stage->depth != depth)
                    continue;
                received += stage->receives;
                for (int to = 0; to < stage->sends; to++, sent++)
                    for (int k = 0; k < p; k++) {
                        twice = twice || (before[i][k] && before[stage->to[to]][k]);
                        has[stage->to[to]][k] = has[stage->to[to]][k] || before[i][k];
                    }
            }
        ck_assert_int_eq(sent, received);
    }
    bool all = true;
    for (int i = 0; i < p; i++)
        for (int k = 0; k < p; k++)
            all = all && has[i][k];
    ck_assert_msg(all && !twice, "%d positions, radix %d", p, radix);
}

START_TEST(exchanges_reach_all) {
    for (int p = 1; p <= MOST; p++)
        for (int radix = 2; radix <= COLL_MULTIPLY_RADIX; radix++)
            run_exchange(p, radix);
}
END_TEST

START_TEST(powers_are_recursive_doubling) {
    coll_multiply_stage stages[COLL_MULTIPLY_STAGES];
    for (int position = 0; position < 8; position++) {
        ck_assert_int_eq(coll_multiply_stages(8, 2, position, stages), 3);
        for (int i = 0; i < 3; i++)
            ck_assert(stages[i].sends == 1 && stages[i].to[0] == (position ^ 1 << i) &&
                      stages[i].receives == 1 && stages[i].from[0] == (position ^ 1 << i));
    }
    ck_assert_int_eq(coll_multiply_stages(64, 4, 5, stages), 3);
    ck_assert_int_eq(coll_multiply_stages(7, 16, 0, stages), 1);
}
END_TEST

START_TEST(cuts_lie_at_powers_of_two) {
    coll_multiply_stage stages[COLL_MULTIPLY_STAGES];
    for (int position = 0; position < 128; position++) {
        ck_assert_int_eq(coll_multiply_stages(128, 6, position, stages), 3);
        ck_assert_int_eq(stages[0].receives, 3);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(stages[0].from[i] / 4, position / 4);
    }
    ck_assert_int_eq(coll_multiply_stages(36, 6, 0, stages), 2);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("reduction_tree");
    TCase *cases = tcase_create("reduction_tree");
    tcase_add_test(cases, any_order_of_arrival);
    tcase_add_test(cases, any_number_of_stations);
    tcase_add_test(cases, consecutive_ranks_are_few_nodes);
    tcase_add_test(cases, values_of_any_size);
    tcase_add_test(cases, errors_of_combining);
    tcase_add_test(cases, exchanges_reach_all);
    tcase_add_test(cases, powers_are_recursive_doubling);
    tcase_add_test(cases, cuts_lie_at_powers_of_two);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
