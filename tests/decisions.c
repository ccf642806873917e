/* Decisions that are kept for calls alike, of one communicator or of several: for which, and for
 * which not. */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/operation/decisions.h"
#include "tests/harness.h"

#include <check.h>

static const coll_choices ring = {1, {{.algorithm = &coll_allreduce_ring, .predicted = 2}}};

static coll_shape of_bytes(size_t bytes) {
    static const coll_topo topo = {.ranks = 8, .sites = 1, .racks = 1, .nodes = 8};
    return (coll_shape){.operation = "allreduce", .bytes = bytes, .element = 8, .topo = &topo};
}

static bool holds(const coll_decisions *decisions, coll_shape call) {
    const coll_decision *last = coll_decisions_at(decisions, call.bytes);
    return coll_decision_holds(last, &call) && last->choices.count == 1 &&
           last->choices.of[0].algorithm == ring.of[0].algorithm &&
           last->choices.of[0].predicted == ring.of[0].predicted;
}

/* One was made for 200 bytes. */
START_TEST(a_decision_holds_for_calls_alike) {
    coll_decisions decisions = {.native = false};
    coll_shape call = of_bytes(200), other = call;
    ck_assert(!holds(&decisions, call));
    coll_decisions_keep(&decisions, &call, &ring);
    ck_assert(holds(&decisions, call));
    ck_assert(holds(&decisions, of_bytes(128)));
    ck_assert(holds(&decisions, of_bytes(255)));
    ck_assert(!holds(&decisions, of_bytes(127)));
    ck_assert(!holds(&decisions, of_bytes(256)));
    ck_assert(!holds(&decisions, of_bytes((size_t)200 << 32)));
    other.ordered = true;
    ck_assert(!holds(&decisions, other));
    other = call;
    other.reproducible = true;
    ck_assert(!holds(&decisions, other));
    other = call;
    other.element = 100;
    ck_assert(!holds(&decisions, other));
    coll_decisions_free(&decisions);
    ck_assert(!holds(&decisions, call));
}
END_TEST

/* The ring combines in an order of its own. */
START_TEST(what_can_not_run_does_not_hold) {
    coll_decisions decisions = {.native = false};
    coll_shape call = of_bytes(200);
    call.ordered = true;
    coll_decisions_keep(&decisions, &call, &ring);
    call.bytes++;
    ck_assert(!holds(&decisions, call));
    coll_decisions_free(&decisions);
}
END_TEST

/* Where the latencies change. */
START_TEST(between_sites_a_decision_holds_for_the_same_call) {
    double latencies[] = {0, 1e-3, 1e-3, 0};
    coll_topo topo = {.ranks = 8, .sites = 2, .racks = 2, .nodes = 8, .latencies = latencies};
    coll_decisions decisions = {.native = false};
    coll_shape call = of_bytes(200), other = call;
    call.topo = other.topo = &topo;
    coll_decisions_keep(&decisions, &call, &ring);
    ck_assert(holds(&decisions, call));
    other.bytes++;
    ck_assert(!holds(&decisions, other));
    latencies[1] = 2e-3;
    ck_assert(!holds(&decisions, call));
    coll_decisions_free(&decisions);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("decisions");
    TCase *cases = tcase_create("decisions");
    tcase_add_test(cases, a_decision_holds_for_calls_alike);
    tcase_add_test(cases, what_can_not_run_does_not_hold);
    tcase_add_test(cases, between_sites_a_decision_holds_for_the_same_call);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
