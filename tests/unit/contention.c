/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests racks found by contention, from made-up times: even and uneven racks, noise, lower
 * bounds, uplinks that are fast, times that contradict each other.
 */
#include "config.h"

#include "lib/topology/contention.h"
#include "tests/support/harness.h"
#include "tests/support/lot.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

enum { HOSTS_MOST = 160 };

typedef struct made_up {
    int hosts, racks[HOSTS_MOST];
    double uplink;  /* rate of an uplink; that of a link is 1 */
    double unknown; /* share of times that are lower bounds */
    double spoilt;  /* share of times that are up to four times longer */
    int rounds;
} made_up;

/* Makes racks of SIZES, which end with 0. The hosts of a rack are consecutive, or mixed. */
static made_up make(const int sizes[], double uplink, bool mixed) {
    made_up all = {.uplink = uplink};
    for (int rack = 0; sizes[rack]; rack++)
        for (int i = 0; i < sizes[rack]; i++)
            all.racks[all.hosts++] = rack;
    for (int i = all.hosts - 1; mixed && i > 0; i--) {
        const int j = (int)((i + 1) * lot()), rack = all.racks[i];
        all.racks[i] = all.racks[j];
        all.racks[j] = rack;
    }
    return all;
}

/* Sets the times of a round. Transfers that share an uplink get unequal shares of it. */
static void transfer(const made_up *all, const int to[], double seconds[]) {
    int out[HOSTS_MOST] = {0}, in[HOSTS_MOST] = {0};
    bool receives[HOSTS_MOST] = {false};
    for (int host = 0; host < all->hosts; host++) {
        const int from = all->racks[host], there = all->racks[to[host]];
        ck_assert(to[host] >= 0 && to[host] < all->hosts && to[host] != host);
        ck_assert(!receives[to[host]]);
        receives[to[host]] = true;
        out[from] += from != there;
        in[there] += from != there;
    }
    for (int host = 0; host < all->hosts; host++) {
        const int from = all->racks[host], there = all->racks[to[host]];
        const int sharing = out[from] > in[there] ? out[from] : in[there];
        const double slower = from == there ? 1 : sharing / all->uplink;
        double *time = &seconds[to[host]];
        *time = 20e-3 * (1 + 0.1 * lot());
        if (slower > 1)
            *time *= 1 + (slower - 1) * (0.7 + 0.6 * lot());
        if (lot() < all->spoilt)
            *time *= 1 + 3 * lot();
        if (lot() < all->unknown)
            *time *= -lot();
    }
}

/* Searches for racks. Sets FOUND to them if there are any. */
static coll_contention_result search(made_up *all, int found[]) {
    double seconds[HOSTS_MOST];
    coll_contention_result result = COLL_CONTENTION_UNKNOWN;
    coll_contention *s = coll_contention_new(all->hosts);
    ck_assert_ptr_nonnull(s);
    for (all->rounds = 0; result == COLL_CONTENTION_UNKNOWN; all->rounds++) {
        transfer(all, coll_contention_next(s), seconds);
        result = coll_contention_add(s, seconds);
    }
    if (result == COLL_CONTENTION_FOUND)
        coll_contention_racks(s, found);
    free(s);
    return result;
}

/* Returns whether racks were found, and sets *RIGHT to whether they are those of ALL. */
static bool is_found(made_up *all, bool *right) {
    int found[HOSTS_MOST], most = 0;
    *right = false;
    if (search(all, found) != COLL_CONTENTION_FOUND)
        return false;
    *right = true;
    for (int a = 0; a < all->hosts; a++) {
        ck_assert_int_le(found[a], most); /* numbered by first appearance */
        most += found[a] == most;
        for (int b = 0; b < a; b++)
            if ((found[a] == found[b]) != (all->racks[a] == all->racks[b]))
                *right = false;
    }
    return true;
}

static const int TWO[] = {12, 11, 0}, FIVE[] = {5, 5, 5, 5, 5, 0}, UNEVEN[] = {6, 9, 4, 0},
                 ONE[] = {20, 0}, MANY[] = {8, 8, 8, 8, 8, 8, 8, 8, 0},
                 LARGE[] = {40, 40, 40, 40, 0};
static const int *const RACKS[] = {TWO, FIVE, UNEVEN, MANY, LARGE};

START_TEST(racks_are_found) {
    for (int i = 0; i < 20; i++) {
        made_up all = make(RACKS[_i % 5], _i / 10 ? 1 : 0.5, _i / 5 % 2);
        bool right;
        ck_assert(is_found(&all, &right) && right);
    }
}
END_TEST

enum { SEARCHES = 50 };

/* Results of SEARCHES searches: how many found racks, and how many of these found wrong ones. */
typedef struct tally {
    int found, wrong;
} tally;

static tally search_often(const int sizes[], double uplink, double unknown, double spoilt) {
    tally all = {0};
    for (int i = 0; i < SEARCHES; i++) {
        made_up one = make(sizes, uplink, true);
        one.unknown = unknown;
        one.spoilt = spoilt;
        bool right;
        const bool any = is_found(&one, &right);
        all.found += any;
        all.wrong += any && !right;
    }
    return all;
}

/* Many transfers between racks are as fast as those inside. */
START_TEST(most_racks_with_fast_uplinks_are_found) {
    static const struct {
        int sizes[3];
        double uplink;
    } racks[] = {{{4, 4}, 2}, {{4, 6}, 1.8}, {{8, 8}, 4}, {{6, 9}, 3}, {{12, 11}, 4}};
    const tally all = search_often(racks[_i].sizes, racks[_i].uplink, 0, 0);
    ck_assert_int_ge(all.found, 25);
    ck_assert_int_le(all.wrong, 10);
}
END_TEST

START_TEST(some_noise_does_no_harm) {
    const tally all = search_often(RACKS[_i], 0.7, 0.2, 0.05);
    ck_assert_int_ge(all.found, 40);
    ck_assert_int_le(all.wrong, 3);
}
END_TEST

START_TEST(few_rounds_are_needed) {
    made_up two = make(TWO, 0.5, false), none = make(ONE, 1, false);
    bool right;
    ck_assert(is_found(&two, &right) && right);
    ck_assert_int_le(two.rounds, 6);
    int unused[HOSTS_MOST];
    ck_assert_int_eq(search(&none, unused), COLL_CONTENTION_NONE);
    ck_assert_int_le(none.rounds, 5);
}
END_TEST

START_TEST(faster_uplinks_show_nothing) {
    int unused[HOSTS_MOST];
    made_up all = make(RACKS[_i], 12, true);
    ck_assert_int_eq(search(&all, unused), COLL_CONTENTION_NONE);
}
END_TEST

START_TEST(times_that_contradict_each_other_show_nothing) {
    int unused[HOSTS_MOST];
    for (int i = 0; i < 20; i++) {
        made_up all = make(ONE, 1, false);
        all.spoilt = 0.5 + 0.5 * lot();
        ck_assert_int_eq(search(&all, unused), COLL_CONTENTION_NONE);
        all.unknown = 1;
        ck_assert_int_eq(search(&all, unused), COLL_CONTENTION_NONE);
    }
}
END_TEST

START_TEST(few_hosts) {
    static const int three[] = {2, 1, 0}, four[] = {2, 2, 0};
    int unused[HOSTS_MOST];
    for (int i = 0; i < 20; i++) {
        made_up all = make(i % 2 ? three : four, 0.25, false);
        (void)search(&all, unused);
        ck_assert_int_le(all.rounds, 16);
    }
}
END_TEST

int main(void) {
    Suite *all = suite_create("contention");
    TCase *tests = tcase_create("contention");
    tcase_add_loop_test(tests, racks_are_found, 0, 20);
    tcase_add_loop_test(tests, most_racks_with_fast_uplinks_are_found, 0, 5);
    tcase_add_loop_test(tests, some_noise_does_no_harm, 0, 4);
    tcase_add_test(tests, few_rounds_are_needed);
    tcase_add_loop_test(tests, faster_uplinks_show_nothing, 0, 4);
    tcase_add_test(tests, times_that_contradict_each_other_show_nothing);
    tcase_add_test(tests, few_hosts);
    suite_add_tcase(all, tests);
    return harness_unit(all);
}
