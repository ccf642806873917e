/* Choices that are kept for communicators alike: whom they are for, and whom not. */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/operation/choices.h"
#include "tests/harness.h"

#include <check.h>

static const coll_operation allreduce = COLL_OPERATION_ALLREDUCE;

static coll_shape of_bytes(size_t bytes) {
    static const coll_topo topo = {.ranks = 8, .sites = 1, .racks = 1, .nodes = 8};
    return (coll_shape){.operation = "allreduce", .bytes = bytes, .element = 8, .topo = &topo};
}

static bool finds(const coll_choices *choices, coll_shape call) {
    coll_choice found;
    return coll_choices_find(choices, allreduce, false, &call, &found) &&
           found.algorithm == &coll_allreduce_ring && found.predicted == 2;
}

/* One was made for 200 bytes. */
START_TEST(a_choice_is_found_by_calls_alike) {
    const coll_choice made = {.algorithm = &coll_allreduce_ring, .predicted = 2};
    coll_choices choices = {0};
    coll_choice found;
    coll_shape call = of_bytes(200), other = call;
    ck_assert(!finds(&choices, call));
    coll_choices_keep(&choices, allreduce, false, &call, &made);
    ck_assert(finds(&choices, call));
    ck_assert(finds(&choices, of_bytes(129)));
    ck_assert(finds(&choices, of_bytes(256)));
    ck_assert(!finds(&choices, of_bytes(128)));
    ck_assert(!finds(&choices, of_bytes(257)));
    other.ordered = true;
    ck_assert(!finds(&choices, other));
    other = call;
    other.reproducible = true;
    ck_assert(!finds(&choices, other));
    other = call;
    other.element = 100;
    ck_assert(!finds(&choices, other));
    ck_assert(!coll_choices_find(&choices, allreduce, true, &call, &found));
    ck_assert(!coll_choices_find(&choices, COLL_OPERATION_REDUCE, false, &call, &found));
    coll_choices_free(&choices);
}
END_TEST

/* The ring combines in an order of its own. */
START_TEST(what_can_not_run_is_not_found) {
    const coll_choice made = {.algorithm = &coll_allreduce_ring, .predicted = 2};
    coll_choices choices = {0};
    coll_shape call = of_bytes(200);
    call.ordered = true;
    coll_choices_keep(&choices, allreduce, false, &call, &made);
    ck_assert(!finds(&choices, call));
    coll_choices_free(&choices);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("choices");
    TCase *cases = tcase_create("choices");
    tcase_add_test(cases, a_choice_is_found_by_calls_alike);
    tcase_add_test(cases, what_can_not_run_is_not_found);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
