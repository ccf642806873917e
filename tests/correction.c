/*
 * Corrections by hand: what they make of sizes and numbers of ranks in between and beyond, whom
 * they are about, and what the chooser makes of them.
 */
#include "config.h"

#include "lib/bcast/bcast.h"
#include "lib/correction.h"
#include "lib/select.h"
#include "tests/harness.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double exact = 1e-12;

static const coll_correction some[] = {
    {COLL_LEVEL_RACK, "bcast", "chain", 4, 2, {100, 10000}, {2, 8}},
    {COLL_LEVEL_RACK, "bcast", "chain", 16, 1, {100}, {32}},
    {COLL_LEVEL_SITE, "bcast", "chain", 4, 1, {100}, {7}},
    {COLL_LEVEL_RACK, "gather", "chain", 4, 1, {100}, {5}},
    {COLL_LEVEL_RACK, "bcast", "binomial", 4, 1, {100}, {3}},
};
enum { SOME = sizeof some / sizeof *some };

static double chain(int ranks, double bytes) {
    return coll_correction_factor(some, SOME, "bcast", "chain", COLL_LEVEL_RACK, ranks, bytes);
}

START_TEST(sizes_are_interpolated_and_large_ones_let_go) {
    ck_assert_double_eq_tol(chain(4, 0), 2, exact);
    ck_assert_double_eq_tol(chain(4, 100), 2, exact);
    ck_assert_double_eq_tol(chain(4, 1000), 4, exact);
    ck_assert_double_eq_tol(chain(4, 10000), 8, exact);
    ck_assert_double_eq_tol(chain(4, 10000 * sqrt(8)), sqrt(8), exact);
    ck_assert_double_eq_tol(chain(4, 80000), 1, exact);
    ck_assert_double_eq_tol(chain(4, 1e9), 1, exact);
}
END_TEST

START_TEST(ranks_are_interpolated) {
    ck_assert_double_eq_tol(chain(2, 100), 2, exact);
    ck_assert_double_eq_tol(chain(8, 100), 8, exact);
    ck_assert_double_eq_tol(chain(16, 100), 32, exact);
    ck_assert_double_eq_tol(chain(1000, 100), 32, exact);
}
END_TEST

START_TEST(others_are_not_concerned) {
    ck_assert(coll_correction_factor(some, SOME, "bcast", "two_tree", COLL_LEVEL_RACK, 4, 100) ==
              1);
    ck_assert(coll_correction_factor(some, SOME, "bcast", "chain", COLL_LEVEL_WIDE, 4, 100) == 1);
    ck_assert(coll_correction_factor(some, 0, "bcast", "chain", COLL_LEVEL_RACK, 4, 100) == 1);
    ck_assert_double_eq_tol(
        coll_correction_factor(some, SOME, "gather", "chain", COLL_LEVEL_RACK, 4, 100), 5, exact);
    ck_assert_double_eq_tol(
        coll_correction_factor(some, SOME, "bcast", "chain", COLL_LEVEL_SITE, 9, 100), 7, exact);
}
END_TEST

/* Eight nodes of one rack. */
static coll_topo rack(coll_place places[8]) {
    for (int i = 0; i < 8; i++)
        places[i] = (coll_place){.node = i};
    return (coll_topo){.ranks = 8,
                       .sites = 1,
                       .racks = 1,
                       .nodes = 8,
                       .most_ranks_per_node = 1,
                       .cores_per_node = 1,
                       .places = places};
}

START_TEST(the_choice_goes_by_them) {
    coll_place places[8];
    coll_topo topo = rack(places);
    coll_profile profile = *coll_profile_builtin();
    const coll_shape call = {.operation = "bcast", .bytes = 100000, .topo = &topo};
    const coll_spec nobody = {.algorithm = NULL};
    coll_choice before = coll_select(coll_bcast_table, &call, &profile, &nobody);

    coll_correction *c = &profile.correction[profile.corrections++];
    *c = (coll_correction){.level = COLL_LEVEL_RACK, .ranks = 8, .knots = 1, .bytes = {1e6}};
    strcpy(c->operation, "bcast");
    snprintf(c->algorithm, sizeof c->algorithm, "%s", before.algorithm->name);
    c->ratio[0] = 100;
    coll_choice after = coll_select(coll_bcast_table, &call, &profile, &nobody);
    ck_assert_ptr_ne(after.algorithm, before.algorithm);

    double model,
        predicted = coll_predicted(before.algorithm, &call, &profile, &before.values, &model);
    ck_assert_double_eq_tol(model, before.predicted, exact);
    ck_assert_double_eq_tol(predicted, 100 * model, exact);
}
END_TEST

START_TEST(impossible_ones_are_told) {
    const coll_correction good = some[0];
    ck_assert_ptr_null(coll_correction_fault(&good));
    coll_correction bad[9];
    for (int i = 0; i < 9; i++)
        bad[i] = good;
    bad[0].operation[0] = '\0';
    memset(bad[1].algorithm, 'a', sizeof bad[1].algorithm);
    bad[2].level = COLL_LEVELS;
    bad[3].ranks = 1;
    bad[4].knots = 0;
    bad[5].knots = COLL_CORRECTION_KNOTS + 1;
    bad[6].ratio[1] = NAN;
    bad[7].bytes[0] = 0;
    bad[8].bytes[1] = bad[8].bytes[0];
    for (int i = 0; i < 9; i++)
        ck_assert_msg(coll_correction_fault(&bad[i]), "%d", i);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("correction");
    TCase *cases = tcase_create("correction");
    tcase_add_test(cases, sizes_are_interpolated_and_large_ones_let_go);
    tcase_add_test(cases, ranks_are_interpolated);
    tcase_add_test(cases, others_are_not_concerned);
    tcase_add_test(cases, the_choice_goes_by_them);
    tcase_add_test(cases, impossible_ones_are_told);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
