/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests racks and sites found from made-up round trips: uneven racks, slow rows, noise, nothing to
 * find, sites.
 */
#include "config.h"

#include "lib/topology/findracks.h"
#include "lib/topology/nearness.h"
#include "tests/support/harness.h"
#include "tests/support/lot.h"

#include <check.h>
#include <math.h>
#include <string.h>

enum { NODES_MOST = 200 };

typedef struct made_up {
    int nodes;
    int racks[NODES_MOST], sites[NODES_MOST];
    double noise;              /* the largest share by which a time is longer */
    double spoilt;             /* the share of times that are up to thirty times longer */
    double disturbed;          /* the share of rows in which half of the times are a third longer */
    double near, far;          /* s, in a rack and between racks */
    double wide;               /* s, between sites */
    double slowness;           /* each row is slower by its own factor of up to 1 + this */
    int slow_at_first;         /* a node that is slow in the first row, or 0 */
    int rows, pairs, last_row; /* measured rows and pairs; the most rows */
} made_up;

/*
 * Makes racks of SIZES, which end with 0. PER_SITE racks are in each site. The nodes of a rack are
 * consecutive, or mixed with others.
 */
static made_up make(const int sizes[], int per_site, bool mixed) {
    made_up all = {.noise = 0.05,
                   .near = 20e-6,
                   .far = 27e-6,
                   .wide = 5e-3,
                   .last_row = NODES_MOST * NODES_MOST};
    int left[NODES_MOST], racks = 0, placed = 1;
    for (; sizes[racks]; racks++)
        left[racks] = sizes[racks];
    while (placed) {
        placed = 0;
        for (int rack = 0; rack < racks; rack++)
            for (int most = mixed ? 1 : left[rack]; most > 0 && left[rack] > 0; most--) {
                all.racks[all.nodes] = rack;
                all.sites[all.nodes++] = rack / per_site;
                left[rack]--;
                placed++;
            }
    }
    return all;
}

static bool measure(void *context, int pivot, int count, const int targets[], double seconds[]) {
    made_up *all = context;
    double slow = 1 + all->slowness * lot();
    bool disturbed = lot() < all->disturbed;
    if (all->rows++ == all->last_row)
        return false;
    ck_assert_int_gt(count, 0);
    for (int i = 0; i < count; i++) {
        int a = pivot, b = targets[i];
        ck_assert(a != b && b >= 0 && b < all->nodes);
        seconds[i] = all->sites[a] != all->sites[b]
                         ? all->wide * (1 + all->sites[a] + all->sites[b])
                     : all->racks[a] != all->racks[b] ? all->far
                                                      : all->near;
        seconds[i] *= slow * (1 + all->noise * lot());
        if (lot() < all->spoilt)
            seconds[i] *= 1 + 29 * lot() * lot();
        if (disturbed && lot() < 0.5)
            seconds[i] *= 1.3 + 0.1 * lot();
        if (all->rows == 1 && b == all->slow_at_first && b > 0)
            seconds[i] *= 1.4;
    }
    all->pairs += count;
    return true;
}

static void check_same(int nodes, const int one[], const int other[], const char *what) {
    for (int a = 0; a < nodes; a++)
        for (int b = 0; b < a; b++)
            ck_assert_msg((one[a] == one[b]) == (other[a] == other[b]),
                          "nodes %d and %d are in %s %s", b, a,
                          one[a] == one[b] ? "one" : "different", what);
}

static coll_racks_found check(made_up *all, const int racks[], const int sites[]) {
    int found_racks[NODES_MOST], found_sites[NODES_MOST];
    coll_racks_found found;
    ck_assert(coll_find_racks(all->nodes, measure, all, found_racks, found_sites, &found));
    check_same(all->nodes, found_sites, sites, "sites");
    check_same(all->nodes, found_racks, racks, "racks");
    ck_assert_int_eq(found_racks[0], 0);
    ck_assert_int_eq(found_sites[0], 0);
    ck_assert(found.sure);
    return found;
}

static const int UNEVEN[] = {3, 7, 1, 11, 0}, FIVE[] = {5, 5, 5, 5, 5, 0}, NONE[NODES_MOST];

START_TEST(racks_are_found) {
    for (int i = 0; i < 20; i++) {
        made_up all = make(_i % 2 ? UNEVEN : FIVE, 100, _i / 2);
        all.slowness = 1;
        coll_racks_found found = check(&all, all.racks, all.sites);
        ck_assert_int_eq(found.racks, _i % 2 ? 4 : 5);
        ck_assert_int_eq(found.sites, 1);
    }
}
END_TEST

/* One row for each rack is measured, from a node without a rack. */
START_TEST(few_pairs_are_measured) {
    static const int ten[] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 0};
    made_up all = make(FIVE, 100, true);
    check(&all, all.racks, all.sites);
    ck_assert_int_le(all.pairs, 130);
    all = make(ten, 100, true);
    check(&all, all.racks, all.sites);
    ck_assert_int_le(all.pairs, 1000);
}
END_TEST

START_TEST(medians_are_told) {
    made_up all = make(FIVE, 100, false);
    all.noise = 0;
    coll_racks_found found = check(&all, all.racks, all.sites);
    ck_assert_double_eq(found.near, 20e-6);
    ck_assert_double_eq(found.far, 27e-6);
}
END_TEST

/* If two in a hundred of the least times are far too long, the racks are usually still found. */
START_TEST(some_outliers_do_no_harm) {
    int right = 0;
    for (int i = 0; i < 100; i++) {
        made_up all = make(i % 2 ? UNEVEN : FIVE, 100, true);
        int racks[NODES_MOST], sites[NODES_MOST];
        coll_racks_found found;
        all.spoilt = 0.02;
        ck_assert(coll_find_racks(all.nodes, measure, &all, racks, sites, &found));
        right += found.sure && found.racks == (i % 2 ? 4 : 5) && racks[0] == 0;
    }
    ck_assert_int_ge(right, 97);
}
END_TEST

/* Rows in which the times of some nodes are longer, near and far, mislead nobody. */
START_TEST(disturbed_rows_do_no_harm) {
    enum { CASES = 100 };
    int right = 0, wrong = 0;
    for (int i = 0; i < CASES; i++) {
        made_up all = make(i % 2 ? UNEVEN : FIVE, 100, true);
        int racks[NODES_MOST], sites[NODES_MOST];
        coll_racks_found found;
        all.disturbed = 0.1;
        ck_assert(coll_find_racks(all.nodes, measure, &all, racks, sites, &found));
        bool five = i % 2 == 0, same = found.racks == (five ? 5 : 4);
        for (int node = 0; node < all.nodes; node++)
            for (int other = 0; other < node; other++)
                same =
                    same && (racks[node] == racks[other]) == (all.racks[node] == all.racks[other]);
        right += found.sure && same;
        wrong += found.sure && !same;
    }
    ck_assert_int_ge(right, CASES - 2);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

START_TEST(what_is_alike_is_one_rack) {
    static const int one[] = {20, 0}, singles[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0};
    for (int percent = 0; percent <= 10; percent += 5) {
        made_up all = make(one, 100, false);
        all.near = 6e-6;
        all.noise = percent / 100.0;
        all.slowness = 1;
        ck_assert_double_eq(check(&all, NONE, NONE).far, 0);
        all = make(singles, 100, false);
        all.far = 9e-6;
        all.noise = percent / 100.0;
        ck_assert_double_eq(check(&all, NONE, NONE).far, 0);
    }
}
END_TEST

/* A node that is slow at first is not alone in a rack. */
START_TEST(one_slow_node_is_noticed) {
    static const int one[] = {20, 0};
    made_up all = make(one, 100, false);
    all.slow_at_first = 7;
    check(&all, NONE, NONE);
    all = make(FIVE, 100, false);
    all.slow_at_first = 7;
    check(&all, all.racks, all.sites);
}
END_TEST

START_TEST(what_is_spread_evenly_is_one_rack) {
    static const int one[] = {20, 0};
    made_up all = make(one, 100, false);
    int racks[NODES_MOST], sites[NODES_MOST];
    coll_racks_found found;
    all.noise = 0.6;
    ck_assert(coll_find_racks(all.nodes, measure, &all, racks, sites, &found));
    ck_assert_mem_eq(racks, NONE, 20 * sizeof *racks);
}
END_TEST

/* If all round trips are long, three even rows end the measurement, and the result is doubtful. */
START_TEST(slow_round_trips_hide_racks) {
    static const int three[] = {4, 4, 4, 0}, two[] = {4, 4, 0};
    for (int i = 0; i < 2; i++) {
        made_up all = make(i ? two : three, 100, true);
        int racks[NODES_MOST], sites[NODES_MOST];
        coll_racks_found found;
        all.near = 40e-6;
        all.far = 42e-6;
        all.noise = 0.02;
        ck_assert(coll_find_racks(all.nodes, measure, &all, racks, sites, &found));
        ck_assert(found.slow && !found.sure);
        ck_assert_int_eq(found.racks, 1);
        ck_assert_int_eq(all.rows, 3);
        all.far = 60e-6;
        found = check(&all, all.racks, all.sites);
        ck_assert(!found.slow);
    }
}
END_TEST

START_TEST(few_nodes) {
    static const int one[] = {1, 0}, two[] = {2, 0}, two_and_one[] = {2, 1, 0}, pairs[] = {2, 2, 0},
                     lone[] = {1, 3, 1, 1, 0};
    made_up all = make(one, 100, false);
    check(&all, NONE, NONE);
    all = make(two, 100, false);
    check(&all, NONE, NONE);
    all = make(two_and_one, 100, false);
    check(&all, all.racks, all.sites);
    all = make(pairs, 100, true);
    check(&all, all.racks, all.sites);
    all = make(lone, 100, true);
    check(&all, all.racks, all.sites);
}
END_TEST

START_TEST(sites_have_racks_of_their_own) {
    static const int sizes[] = {3, 4, 2, 5, 3, 3, 0};
    for (int mixed = 0; mixed < 2; mixed++) {
        made_up all = make(sizes, 2, mixed);
        coll_racks_found found = check(&all, all.racks, all.sites);
        ck_assert_int_eq(found.racks, 6);
        ck_assert_int_eq(found.sites, 3);
    }
}
END_TEST

START_TEST(a_site_without_racks_is_one) {
    static const int sizes[] = {2, 2, 4, 0};
    made_up all = make(sizes, 1, true);
    ck_assert_double_eq(check(&all, all.racks, all.sites).far, 0);
}
END_TEST

/* Racks a millisecond apart are sites, those a tenth of that apart are not. */
START_TEST(a_site_begins_at_a_multiple_and_at_a_least_time) {
    static const int sizes[] = {3, 3, 0};
    static const struct {
        double far;
        int sites;
    } cases[] = {{100e-6, 1}, {79e-6, 1}, {199e-6, 1}, {201e-6, 2}, {1e-3, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made_up all = make(sizes, 100, true);
        all.noise = 0;
        all.far = cases[i].far;
        check(&all, all.racks, cases[i].sites == 2 ? all.racks : NONE);
    }
}
END_TEST

/* The time limit may end the measurement at any row. */
START_TEST(what_is_not_measured_is_not_found) {
    made_up whole = make(FIVE, 100, true);
    check(&whole, whole.racks, whole.sites);
    for (int row = 0; row < whole.rows; row++) {
        made_up all = make(FIVE, 100, true);
        int racks[NODES_MOST], sites[NODES_MOST];
        coll_racks_found found;
        all.last_row = row;
        lots.state = 1;
        ck_assert(!coll_find_racks(all.nodes, measure, &all, racks, sites, &found));
        ck_assert_int_eq(all.rows, row + 1);
    }
}
END_TEST

START_TEST(rows_are_parted_by_themselves) {
    static const double clear[] = {24, 16, 24.5, 17, 23}, even[] = {24, 23, 25, 24, 26},
                        unclear[] = {16, 17.5, 19, 21, 23, 25}, away[] = {1e3, 16, 23, 2e3};
    double seconds[6], sorted[6];
    coll_nearness nearness[6];
    for (int i = 0; i < 5; i++)
        seconds[i] = 1e-6 * clear[i];
    coll_row_split split = coll_nearness_find(5, seconds, 16e-6, sorted, nearness);
    ck_assert_int_eq(split.kind, COLL_ROW_CLEAR);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(nearness[i], clear[i] < 20 ? COLL_NEAR : COLL_FAR);
    for (int i = 0; i < 5; i++)
        seconds[i] = 1e-6 * even[i];
    ck_assert_int_eq(coll_nearness_find(5, seconds, 16e-6, sorted, nearness).kind, COLL_ROW_EVEN);
    for (int i = 0; i < 6; i++)
        seconds[i] = 1e-6 * unclear[i];
    ck_assert_int_eq(coll_nearness_find(6, seconds, 16e-6, sorted, nearness).kind,
                     COLL_ROW_UNCLEAR);
    for (int i = 0; i < 4; i++)
        seconds[i] = 1e-6 * away[i];
    split = coll_nearness_find(4, seconds, 16e-6, sorted, nearness);
    ck_assert_int_eq(split.kind, COLL_ROW_CLEAR);
    ck_assert(nearness[0] == COLL_AWAY && nearness[1] == COLL_NEAR && nearness[2] == COLL_FAR &&
              nearness[3] == COLL_AWAY);
    ck_assert_int_eq(coll_nearness_find(0, seconds, INFINITY, sorted, nearness).kind,
                     COLL_ROW_EVEN);
}
END_TEST

int main(void) {
    Suite *all = suite_create("findracks");
    TCase *tests = tcase_create("findracks");
    tcase_add_loop_test(tests, racks_are_found, 0, 4);
    tcase_add_test(tests, few_pairs_are_measured);
    tcase_add_test(tests, medians_are_told);
    tcase_add_test(tests, some_outliers_do_no_harm);
    tcase_add_test(tests, disturbed_rows_do_no_harm);
    tcase_add_test(tests, what_is_alike_is_one_rack);
    tcase_add_test(tests, one_slow_node_is_noticed);
    tcase_add_test(tests, what_is_spread_evenly_is_one_rack);
    tcase_add_test(tests, slow_round_trips_hide_racks);
    tcase_add_test(tests, few_nodes);
    tcase_add_test(tests, sites_have_racks_of_their_own);
    tcase_add_test(tests, a_site_without_racks_is_one);
    tcase_add_test(tests, a_site_begins_at_a_multiple_and_at_a_least_time);
    tcase_add_test(tests, what_is_not_measured_is_not_found);
    tcase_add_test(tests, rows_are_parted_by_themselves);
    suite_add_tcase(all, tests);
    return harness_unit(all);
}
