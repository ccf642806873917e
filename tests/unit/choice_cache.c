/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the choice cache: for which calls a choice holds, and for which it does not.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/tuning/choice_cache.h"
#include "tests/support/harness.h"

#include <check.h>

static const coll_choices ring = {1, {{.algorithm = &coll_allreduce_ring, .predicted = 2}}};

static const coll_spec nobody = {.algorithm = NULL}; /* the user has named no algorithm */
static coll_place places[] = {
    {.node = 0}, {.node = 1}, {.node = 2}, {.node = 3},
    {.node = 4}, {.node = 5}, {.node = 6}, {.node = 7},
};
static const coll_topo topo = {.ranks = 8, .sites = 1, .racks = 1, .nodes = 8, .places = places};

static coll_shape of_bytes(size_t bytes) {
    return (coll_shape){
        .operation = COLL_OPERATION_ALLREDUCE, .bytes = bytes, .element = 8, .topo = &topo};
}

static bool holds(uint64_t decisions, coll_shape call) {
    coll_choices found;
    return coll_choice_cache_find(decisions, &nobody, COLL_BY_SELECT, &call, &found) &&
           found.count == 1 && found.of[0].algorithm == ring.of[0].algorithm &&
           found.of[0].predicted == ring.of[0].predicted;
}

/* The choice was made for 200 bytes. */
START_TEST(a_decision_holds_for_calls_alike) {
    const uint64_t decisions = coll_choice_cache_key(0, &topo);
    coll_shape call = of_bytes(200), other = call;
    coll_spec asked = {.algorithm = &coll_allreduce_chain};
    coll_choices found;
    ck_assert(!holds(decisions, call));
    coll_choice_cache_keep(decisions, &nobody, COLL_BY_SELECT, &call, &ring);
    ck_assert(holds(decisions, call));
    ck_assert(holds(decisions, of_bytes(128)));
    ck_assert(holds(decisions, of_bytes(255)));
    ck_assert(!holds(decisions, of_bytes(127)));
    ck_assert(!holds(decisions, of_bytes(256)));
    ck_assert(!holds(decisions, of_bytes((size_t)200 << 32)));
    other.ordered = true;
    ck_assert(!holds(decisions, other));
    other = call;
    other.reproducible = true;
    ck_assert(!holds(decisions, other));
    other = call;
    other.element = 100;
    ck_assert(!holds(decisions, other));
    other = call;
    other.operation = COLL_OPERATION_REDUCE;
    ck_assert(!holds(decisions, other));
    ck_assert(!coll_choice_cache_find(decisions, &nobody, COLL_BY_SELECT_STARTED, &call, &found));
    coll_choice_cache_keep(decisions, &asked, COLL_BY_SELECT, &call, &ring);
    ck_assert(coll_choice_cache_find(decisions, &asked, COLL_BY_SELECT, &call, &found));
    asked.values.at[0]++;
    ck_assert(!coll_choice_cache_find(decisions, &asked, COLL_BY_SELECT, &call, &found));
}
END_TEST

START_TEST(each_kind_of_call_keeps_its_own) {
    const uint64_t decisions = coll_choice_cache_key(0, &topo);
    coll_choices other = ring, found;
    const coll_shape call = of_bytes(200), larger = of_bytes(300);
    other.of[0].predicted = 3;
    coll_choice_cache_keep(decisions, &nobody, COLL_BY_SELECT, &call, &other);
    coll_choice_cache_keep(decisions, &nobody, COLL_BY_SELECT, &call, &ring);
    coll_choice_cache_keep(decisions, &nobody, COLL_BY_SELECT_STARTED, &call, &other);
    coll_choice_cache_keep(decisions, &nobody, COLL_BY_SELECT, &larger, &other);
    ck_assert(holds(decisions, call));
    ck_assert(coll_choice_cache_find(decisions, &nobody, COLL_BY_SELECT_STARTED, &call, &found));
    ck_assert(found.of[0].predicted == 3);
    other.of[0].predicted = 0; /* no times were compared */
    coll_choice_cache_keep(decisions, &nobody, COLL_BY_SELECT, &call, &other);
    ck_assert(holds(decisions, call));
}
END_TEST

START_TEST(those_in_the_same_places_share_it) {
    static coll_place others[] = {{.node = 0}, {.node = 1}, {.node = 1}};
    const coll_topo half = {.ranks = 4, .places = places}, other = {.ranks = 3, .places = others},
                    third = {.ranks = 3, .places = places};
    const uint64_t decisions = coll_choice_cache_key(7, &topo);
    const coll_shape call = of_bytes(200);
    coll_choice_cache_keep(decisions, &nobody, COLL_BY_SELECT, &call, &ring);
    ck_assert(coll_choice_cache_key(7, &topo) == decisions && holds(decisions, call));
    const struct {
        int64_t id;
        const coll_topo *topo;
    } apart[] = {{8, &topo}, {0, &topo}, {0, &topo}, {7, &half}, {7, &other}, {7, &third}};
    for (int i = 0; i < 6; i++) {
        const uint64_t next = coll_choice_cache_key(apart[i].id, apart[i].topo);
        ck_assert(!holds(next, call));
        coll_choice_cache_keep(next, &nobody, COLL_BY_SELECT, &call, &ring);
    }
}
END_TEST

/* The cache drops choices when there are too many, but not the newest. */
START_TEST(what_was_kept_last_is_there) {
    enum { FEW = 500, MANY = 10000 };
    const coll_shape call = of_bytes(200);
    for (int i = 1; i <= MANY; i++)
        coll_choice_cache_keep(coll_choice_cache_key(i, &topo), &nobody, COLL_BY_SELECT, &call,
                               &ring);
    for (int i = 1; i <= FEW; i++) {
        ck_assert(!holds(coll_choice_cache_key(i, &topo), call));
        ck_assert(holds(coll_choice_cache_key(MANY + 1 - i, &topo), call));
    }
}
END_TEST

/* The ring combines in another order. */
START_TEST(what_can_not_run_does_not_hold) {
    const uint64_t decisions = coll_choice_cache_key(0, &topo);
    coll_shape call = of_bytes(200);
    call.ordered = true;
    coll_choice_cache_keep(decisions, &nobody, COLL_BY_SELECT, &call, &ring);
    ck_assert(!holds(decisions, call));
}
END_TEST

/* On 8 ranks a scatter's binomial is applicable to blocks of up to 8 KB. */
START_TEST(a_decision_holds_where_the_same_algorithms_apply) {
    const uint64_t decisions = coll_choice_cache_key(0, &topo);
    coll_shape call = {.operation = COLL_OPERATION_SCATTER, .bytes = 9000, .topo = &topo};
    coll_choices found;
    const size_t out[] = {8191, 8192, 16384}, in[] = {8193, 10000, 16383};
    coll_choice_cache_keep(decisions, &nobody, COLL_BY_SELECT, &call, &ring);
    for (int i = 0; i < 3; i++) {
        call.bytes = out[i];
        ck_assert(!coll_choice_cache_find(decisions, &nobody, COLL_BY_SELECT, &call, &found));
        call.bytes = in[i];
        ck_assert(coll_choice_cache_find(decisions, &nobody, COLL_BY_SELECT, &call, &found));
    }
}
END_TEST

/* With latencies that change. */
START_TEST(between_sites_a_decision_holds_for_the_same_call) {
    double latencies[] = {0, 1e-3, 1e-3, 0};
    const coll_topo wide = {
        .ranks = 8, .sites = 2, .racks = 2, .nodes = 8, .places = places, .latencies = latencies};
    const uint64_t decisions = coll_choice_cache_key(0, &wide);
    coll_shape call = of_bytes(200), other = call;
    call.topo = other.topo = &wide;
    coll_choice_cache_keep(decisions, &nobody, COLL_BY_SELECT, &call, &ring);
    ck_assert(holds(decisions, call));
    other.bytes++;
    ck_assert(!holds(decisions, other));
    latencies[1] = 2e-3;
    ck_assert(!holds(decisions, call));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("choice_cache");
    TCase *cases = tcase_create("choice_cache");
    tcase_add_test(cases, a_decision_holds_for_calls_alike);
    tcase_add_test(cases, a_decision_holds_where_the_same_algorithms_apply);
    tcase_add_test(cases, each_kind_of_call_keeps_its_own);
    tcase_add_test(cases, those_in_the_same_places_share_it);
    tcase_add_test(cases, what_was_kept_last_is_there);
    tcase_add_test(cases, what_can_not_run_does_not_hold);
    tcase_add_test(cases, between_sites_a_decision_holds_for_the_same_call);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
