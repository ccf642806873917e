/* Racks and sites from made-up round trips: uneven racks, noise, nothing to find, sites. */
#include "config.h"

#include "lib/place/cluster.h"
#include "tests/harness.h"

#include <check.h>
#include <stdint.h>

enum { NODES_MOST = 64, PAIRS_MOST = NODES_MOST * NODES_MOST };

typedef struct made_up {
    int nodes, count;
    int racks[NODES_MOST], sites[NODES_MOST];
    coll_pair pairs[PAIRS_MOST];
} made_up;

static uint64_t seed;

/* 0 or more and less than 1. */
static double lot(void) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 33) / 2147483648.0;
}

/* Racks of SIZES, ended by 0, of which PER_SITE each are in one site. */
static made_up make(const int sizes[], int per_site) {
    made_up all = {0};
    seed = 1;
    for (int rack = 0; sizes[rack]; rack++)
        for (int i = 0; i < sizes[rack]; i++) {
            all.racks[all.nodes] = rack;
            all.sites[all.nodes++] = rack / per_site;
        }
    return all;
}

/* Adds what A and B measure: a floor for what is between them, more by up to NOISE of it. */
static void measure(made_up *all, int a, int b, double noise) {
    static const double near = 20e-6, far = 27e-6, wide = 5e-3;
    double floor = all->sites[a] != all->sites[b]   ? wide * (1 + all->sites[a] + all->sites[b])
                   : all->racks[a] != all->racks[b] ? far
                                                    : near;
    all->pairs[all->count++] = (coll_pair){a, b, floor * (1 + noise * lot())};
}

static void measure_all(made_up *all, double noise) {
    for (int a = 0; a < all->nodes; a++)
        for (int b = a + 1; b < all->nodes; b++)
            measure(all, a, b, noise);
}

static void check(made_up *all, const int racks[], const int sites[]) {
    int found_racks[NODES_MOST], found_sites[NODES_MOST];
    coll_clusters found;
    ck_assert(coll_cluster(all->nodes, all->count, all->pairs, found_racks, found_sites, &found));
    for (int node = 0; node < all->nodes; node++) {
        ck_assert_msg(found_racks[node] == racks[node], "node %d is in rack %d, not %d", node,
                      found_racks[node], racks[node]);
        ck_assert_int_eq(found_sites[node], sites[node]);
    }
    ck_assert_int_eq(found.racks, racks[all->nodes - 1] + 1);
    ck_assert_int_eq(found.sites, sites[all->nodes - 1] + 1);
}

static const int UNEVEN[] = {3, 7, 1, 11, 0}, FIVE[] = {5, 5, 5, 5, 5, 0}, NONE[NODES_MOST];

START_TEST(all_pairs_show_uneven_racks) {
    made_up all = make(UNEVEN, 100);
    measure_all(&all, 0.1);
    check(&all, all.racks, all.sites);
}
END_TEST

/* The medians are those of the classes. */
START_TEST(medians_are_told) {
    made_up all = make(FIVE, 100);
    int racks[NODES_MOST], sites[NODES_MOST];
    coll_clusters found;
    measure_all(&all, 0);
    ck_assert(coll_cluster(all.nodes, all.count, all.pairs, racks, sites, &found));
    ck_assert_double_eq(found.near, 20e-6);
    ck_assert_double_eq(found.far, 27e-6);
}
END_TEST

/* One pair in five takes up to thirty times as long; nothing takes less than it must. */
START_TEST(outliers_split_and_join_nothing) {
    made_up all = make(UNEVEN, 100);
    measure_all(&all, 0.05);
    for (int i = 0; i < all.count; i++)
        if (lot() < 0.2)
            all.pairs[i].seconds *= 1 + 29 * lot() * lot();
    check(&all, all.racks, all.sites);
}
END_TEST

/* As lib/place/autotopo.c begins: three pivots see the racks that they are in, and nobody's others.
 */
START_TEST(rows_of_pivots_leave_other_nodes_single) {
    made_up all = make(FIVE, 100);
    static const int pivots[] = {0, 8, 16};
    for (int i = 0; i < 3; i++)
        for (int node = 0; node < all.nodes; node++)
            if (node != pivots[i])
                measure(&all, pivots[i], node, 0.05);
    int racks[NODES_MOST];
    for (int node = 0; node < all.nodes; node++)
        racks[node] = node < 10 ? node / 5 : node < 15 ? node - 8 : node < 20 ? 7 : node - 12;
    check(&all, racks, all.sites);
}
END_TEST

START_TEST(what_is_alike_is_one_rack) {
    static const int one[] = {20, 0}, singles[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0};
    for (int percent = 0; percent <= 10; percent += 5) {
        made_up all = make(one, 100);
        measure_all(&all, percent / 100.0);
        check(&all, NONE, NONE);
        all = make(singles, 100);
        measure_all(&all, percent / 100.0);
        check(&all, NONE, NONE);
    }
}
END_TEST

START_TEST(few_nodes) {
    static const int one[] = {1, 0}, two[] = {2, 0}, two_and_one[] = {2, 1, 0}, pairs[] = {2, 2, 0};
    made_up all = make(one, 100);
    check(&all, NONE, NONE);
    all = make(two, 100);
    measure_all(&all, 0);
    check(&all, NONE, NONE);
    all = make(two_and_one, 100);
    measure_all(&all, 0.05);
    check(&all, all.racks, all.sites);
    all = make(pairs, 100);
    measure_all(&all, 0.05);
    check(&all, all.racks, all.sites);
}
END_TEST

/* Nothing was measured, so that there may be no list of it. */
START_TEST(one_node_has_no_pairs) {
    int rack = -1, site = -1;
    coll_clusters found;
    ck_assert(coll_cluster(1, 0, NULL, &rack, &site, &found));
    ck_assert(rack == 0 && site == 0 && found.racks == 1 && found.sites == 1);
}
END_TEST

START_TEST(sites_have_racks_of_their_own) {
    static const int sizes[] = {3, 4, 2, 5, 3, 3, 0};
    made_up all = make(sizes, 2);
    measure_all(&all, 0.1);
    check(&all, all.racks, all.sites);
}
END_TEST

START_TEST(a_site_without_racks_is_one) {
    static const int sizes[] = {2, 2, 2, 0};
    made_up all = make(sizes, 1);
    measure_all(&all, 0.1);
    check(&all, all.racks, all.sites);
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
        made_up all = make(sizes, 100);
        measure_all(&all, 0);
        for (int k = 0; k < all.count; k++)
            if (all.racks[all.pairs[k].a] != all.racks[all.pairs[k].b])
                all.pairs[k].seconds = cases[i].far;
        check(&all, all.racks, cases[i].sites == 2 ? all.racks : NONE);
    }
}
END_TEST

START_TEST(numbers_follow_first_appearance) {
    int labels[] = {7, 3, 7, 0, 3, 9};
    static const int expected[] = {0, 1, 0, 2, 1, 3};
    int map[10];
    ck_assert_int_eq(coll_cluster_renumber(labels, sizeof *labels, 6, 10, map), 4);
    ck_assert_mem_eq(labels, expected, sizeof labels);
    ck_assert_int_eq(coll_cluster_renumber(labels, sizeof *labels, 0, 10, map), 0);
}
END_TEST

int main(void) {
    Suite *all = suite_create("cluster");
    TCase *tests = tcase_create("cluster");
    tcase_add_test(tests, all_pairs_show_uneven_racks);
    tcase_add_test(tests, medians_are_told);
    tcase_add_test(tests, outliers_split_and_join_nothing);
    tcase_add_test(tests, rows_of_pivots_leave_other_nodes_single);
    tcase_add_test(tests, what_is_alike_is_one_rack);
    tcase_add_test(tests, few_nodes);
    tcase_add_test(tests, one_node_has_no_pairs);
    tcase_add_test(tests, sites_have_racks_of_their_own);
    tcase_add_test(tests, a_site_without_racks_is_one);
    tcase_add_test(tests, a_site_begins_at_a_multiple_and_at_a_least_time);
    tcase_add_test(tests, numbers_follow_first_appearance);
    suite_add_tcase(all, tests);
    return harness_unit(all);
}
