/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests trees made from matrices: the paper's figures, the properties of every tree, and for few
 * sites the best of all trees.
 */
#include "config.h"

#include "hlot/levels.h"
#include "hlot/tree.h"
#include "hlot/tree_quality.h"
#include "tests/support/harness.h"
#include "tests/support/lot.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { A, B, C, D, E, F, G, H, FIGURE_SITES };

/* Figure 1 of the paper. */
static const double figure[FIGURE_SITES][FIGURE_SITES] = {
    {0, 400, 800, 420, 520, 500, 800, 150},  {430, 0, 200, 450, 700, 540, 700, 370},
    {700, 250, 0, 500, 870, 850, 700, 600},  {400, 450, 500, 0, 500, 950, 1300, 780},
    {500, 670, 800, 500, 0, 500, 700, 520},  {580, 550, 850, 800, 500, 0, 280, 480},
    {920, 700, 700, 1260, 720, 300, 0, 200}, {300, 520, 600, 800, 550, 320, 200, 0}};

static hlot_network figure1(void) {
    hlot_network network = {.sites = FIGURE_SITES, .segments = 1};
    for (int from = 0; from < FIGURE_SITES; from++)
        memcpy(network.latency[from], figure[from], sizeof figure[from]);
    return network;
}

/* Returns a random number from above 0 to 1. */
static double above_zero(void) {
    return lot() + 1 / 2147483648.0;
}

/* Makes asymmetric latencies with a heavy tail. MISSING is the share of missing links. */
static void make_random(int sites, double gap, double missing, hlot_network *network) {
    network->sites = sites;
    network->gap = gap;
    network->segments = gap > 0 ? floor(pow(2, 5 * above_zero())) : 1;
    for (int from = 0; from < sites; from++)
        for (int to = 0; to < sites; to++)
            network->latency[from][to] =
                above_zero() <= missing ? INFINITY : pow(above_zero(), -1 / 1.2);
}

/*
 * Returns whether each site occurs once, parents before their children, with the root first and
 * siblings together.
 */
static bool is_sound(const hlot_tree *tree) {
    bool seen[HLOT_SITES] = {false};
    int below = 0;
    if (tree->order[0] != tree->root || tree->parent[tree->root] != -1)
        return false;
    for (int i = 0; i < tree->sites; i++) {
        int site = tree->order[i];
        if (site < 0 || site >= tree->sites || seen[site] || (i > 0 && !seen[tree->parent[site]]))
            return false;
        seen[site] = true;
    }
    for (int site = 0; site < tree->sites; site++) {
        const int *children;
        int count = hlot_tree_children(tree, site, &children);
        for (int i = 0; i < count; i++)
            below += tree->parent[children[i]] == site;
    }
    return below == tree->sites - 1;
}

START_TEST(figure_2_has_the_totals_of_the_paper) {
    static const double totals[HLOT_KINDS] = {
        [HLOT_PAPER] = 600,     [HLOT_PLUS] = 600, [HLOT_FLAT] = 800,
        [HLOT_BINOMIAL] = 1420, [HLOT_MST] = 1150, [HLOT_SPT] = 600};
    hlot_network network = figure1();
    for (int kind = 0; kind < HLOT_KINDS; kind++) {
        hlot_tree tree;
        ck_assert_double_eq(hlot_tree_make(&network, (hlot_kind)kind, A, &tree), totals[kind]);
        ck_assert_msg(is_sound(&tree), "%s", hlot_kind_name((hlot_kind)kind));
    }
}
END_TEST

START_TEST(figure_2_has_the_links_of_the_paper) {
    static const int mst[] = {-1, A, B, A, F, G, H, A}, hlot[] = {-1, A, B, A, A, H, H, A};
    hlot_network network = figure1();
    hlot_tree tree;
    hlot_tree_make(&network, HLOT_MST, A, &tree);
    ck_assert_mem_eq(tree.parent, mst, sizeof mst);
    hlot_tree_make(&network, HLOT_PAPER, A, &tree);
    ck_assert_mem_eq(tree.parent, hlot, sizeof hlot);
}
END_TEST

/*
 * Eq. 2: the k-th child has the data k gaps and a latency after its parent; the child with the
 * longest path comes first.
 */
START_TEST(times_count_gaps_and_segments) {
    hlot_network network = {.sites = 4, .gap = 10, .segments = 3};
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++)
            network.latency[from][to] = 100 * to;
    hlot_tree tree;
    double arrival[HLOT_SITES];
    ck_assert_double_eq(hlot_tree_make(&network, HLOT_FLAT, 0, &tree), 310 + 2 * 30);
    static const int order[] = {0, 3, 2, 1};
    ck_assert_mem_eq(tree.order, order, sizeof order);
    hlot_tree_time(&network, &tree, arrival);
    ck_assert_double_eq(arrival[0], 0);
    ck_assert_double_eq(arrival[1], 130 + 2 * 30);

    /* In a chain every site sends once. */
    for (int site = 0; site < 4; site++)
        tree.parent[site] = site - 1;
    hlot_tree_arrange(&network, &tree);
    ck_assert_double_eq(hlot_tree_time(&network, &tree, arrival), 630 + 2 * 10);
}
END_TEST

START_TEST(many_children_cost_less_in_a_line_when_messages_are_large) {
    hlot_network network = {.sites = 8, .gap = 1, .segments = 1000};
    hlot_tree tree;
    for (int from = 0; from < 8; from++)
        for (int to = 0; to < 8; to++)
            network.latency[from][to] = 5;
    ck_assert_double_le(hlot_tree_make(&network, HLOT_PLUS, 2, &tree), 7 * 6 + 999);
}
END_TEST

START_TEST(hlot_is_never_worse_than_flat_nor_hlot_plus_than_any) {
    lots.state = 1;
    for (int i = 0; i < (harness_proves("few") ? 1000 : 10000); i++) {
        hlot_network network;
        double times[HLOT_KINDS];
        make_random(1 + i % HLOT_SITES, i % 2 ? pow(10, 4 * above_zero() - 3) : 0, 0, &network);
        int root = (int)(above_zero() * network.sites) % network.sites;
        for (int kind = 0; kind < HLOT_KINDS; kind++) {
            hlot_tree tree;
            times[kind] = hlot_tree_make(&network, (hlot_kind)kind, root, &tree);
            ck_assert_msg(is_sound(&tree), "%s of matrix %d", hlot_kind_name((hlot_kind)kind), i);
        }
        for (int kind = 0; kind < HLOT_KINDS; kind++)
            ck_assert_msg(times[HLOT_PLUS] <= times[kind], "hlot+ %g, %s %g, matrix %d",
                          times[HLOT_PLUS], hlot_kind_name((hlot_kind)kind), times[kind], i);
        if (network.gap == 0)
            ck_assert_double_le(times[HLOT_PAPER], times[HLOT_FLAT] * (1 + 1e-12));
    }
}
END_TEST

/* Returns the least time of all trees: tries all assignments of parents without loops. */
static double least_of_all(const hlot_network *network, int root) {
    double least = INFINITY, arrival[HLOT_SITES];
    hlot_tree tree = {.sites = network->sites, .root = root};
    long ways = 1;
    for (int site = 1; site < network->sites; site++)
        ways *= network->sites;
    for (long way = 0; way < ways; way++) {
        long rest = way;
        bool good = true;
        for (int site = 0; site < network->sites; site++) {
            tree.parent[site] = site == root ? -1 : (int)(rest % network->sites);
            rest = site == root ? rest : rest / network->sites;
        }
        for (int site = 0; site < network->sites && good; site++) {
            int steps = 0;
            for (int up = site; up != root && steps <= network->sites; steps++)
                up = tree.parent[up];
            good = steps < network->sites;
        }
        if (!good)
            continue;
        hlot_tree_arrange(network, &tree);
        least = fmin(least, hlot_tree_time(network, &tree, arrival));
    }
    return least;
}

/*
 * For up to 5 sites all trees are tried. The heuristic that moves sites need not find the best one,
 * but usually does.
 */
START_TEST(few_sites_get_the_best_tree_there_is) {
    int best = 0, all = 200;
    lots.state = 2;
    for (int i = 0; i < all; i++) {
        hlot_network network;
        hlot_tree tree;
        make_random(2 + i % 4, i % 2 ? above_zero() : 0, 0, &network);
        double least = least_of_all(&network, 0);
        double made = hlot_tree_make(&network, HLOT_PLUS, 0, &tree);
        ck_assert_double_ge(made, least * (1 - 1e-12));
        if (network.gap == 0)
            ck_assert_double_le(made, least * (1 + 1e-12));
        best += made <= least * (1 + 1e-12);
    }
    ck_assert_msg(best * 10 >= all * 9, "the best tree in %d of %d cases", best, all);
}
END_TEST

START_TEST(missing_links_are_not_used_and_lost_sites_are_named) {
    static const hlot_kind kinds[] = {HLOT_PAPER, HLOT_PLUS, HLOT_MST, HLOT_SPT};
    int whole = 0;
    lots.state = 3;
    for (int i = 0; i < 500; i++) {
        hlot_network network;
        bool lost[HLOT_SITES];
        make_random(2 + i % 20, i % 2 ? above_zero() : 0, 0.8, &network);
        int count = hlot_unreachable(&network, 0, lost), marked = 0;
        for (int site = 0; site < network.sites; site++)
            marked += lost[site];
        ck_assert_int_eq(count, marked);
        ck_assert(!lost[0]);
        if (count)
            continue;
        whole++;
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            hlot_tree tree;
            ck_assert_double_lt(hlot_tree_make(&network, kinds[kind], 0, &tree), INFINITY);
        }
    }
    ck_assert_int_gt(whole, 50);
}
END_TEST

START_TEST(one_site_is_a_tree) {
    hlot_network network = {.sites = 1, .segments = 1, .gap = 1};
    hlot_tree tree;
    for (int kind = 0; kind < HLOT_KINDS; kind++)
        ck_assert_double_eq(hlot_tree_make(&network, (hlot_kind)kind, 0, &tree), 0);
}
END_TEST

/*
 * Three organisations, whose sites are a millisecond apart, with 20 ms and more between
 * organisations.
 */
static hlot_network organisations(void) {
    static const int of[] = {0, 1, 0, 2, 1, 0, 2};
    hlot_network network = {.sites = 7, .segments = 1};
    for (int from = 0; from < 7; from++)
        for (int to = 0; to < 7; to++)
            network.latency[from][to] = of[from] == of[to] ? 1 : 20 + 5 * (of[from] + of[to]) + to;
    return network;
}

START_TEST(near_sites_form_groups_that_are_entered_once) {
    static const int expected[] = {0, 1, 0, 2, 1, 0, 2};
    hlot_network network = organisations();
    for (int from = 0; from < 7; from++) /* in seconds, for the clustering */
        for (int to = 0; to < 7; to++)
            network.latency[from][to] *= 1e-3;
    int groups[HLOT_SITES], entries = 0;
    ck_assert_int_eq(hlot_levels_group(&network, groups), 3);
    ck_assert_mem_eq(groups, expected, sizeof expected);
    hlot_tree tree;
    for (int root = 0; root < 7; root++) {
        hlot_levels_tree(&network, HLOT_PAPER, root, &tree);
        ck_assert(is_sound(&tree));
        entries = 0;
        for (int site = 0; site < 7; site++)
            entries += tree.parent[site] >= 0 && groups[tree.parent[site]] != groups[site];
        ck_assert_int_eq(entries, 2);
    }
}
END_TEST

START_TEST(unlike_links_leave_every_site_by_itself) {
    hlot_network network = figure1();
    int groups[HLOT_SITES];
    ck_assert_int_eq(hlot_levels_group(&network, groups), FIGURE_SITES);
}
END_TEST

/*
 * If only latencies are included, no tree is faster than that of shortest paths. If sends are
 * included, hlot+ is the best kind.
 */
START_TEST(studies_measure_kinds_by_the_best_tree) {
    for (int sites = 2; sites <= 7; sites++)
        for (int gap = 0; gap <= 1; gap++) {
            const hlot_tree_quality_settings study = {.sites = sites,
                                                      .networks = 20,
                                                      .seed = (uint32_t)sites,
                                                      .gap = gap * 10e-3,
                                                      .segments = 1 + 7 * gap};
            hlot_tree_quality first[HLOT_KINDS], again[HLOT_KINDS];
            ck_assert(hlot_tree_quality_run(&study, first) && hlot_tree_quality_run(&study, again));
            for (int kind = 0; kind < HLOT_KINDS; kind++) {
                ck_assert_double_ge(first[kind].median, 1 - 1e-9);
                ck_assert_double_ge(first[kind].worst, first[kind].median);
                ck_assert_double_ge(first[kind].median, first[HLOT_PLUS].median - 1e-9);
                ck_assert_double_eq(first[kind].worst, again[kind].worst);
            }
            ck_assert(gap || first[HLOT_SPT].best == study.networks);
        }
}
END_TEST

/* A network of three sites: the root sends through the near one, unless a send takes long. */
START_TEST(the_best_tree_is_found) {
    hlot_network network = {.sites = 3, .segments = 1};
    network.latency[0][1] = network.latency[1][0] = 1;
    network.latency[1][2] = network.latency[2][1] = 2;
    network.latency[0][2] = network.latency[2][0] = 10;
    ck_assert_double_eq(hlot_tree_quality_optimum(&network), 3);
    network.gap = 8;
    /* 8 + 10, 16 + 1; not 8 + 1 + 8 + 2 */
    ck_assert_double_eq(hlot_tree_quality_optimum(&network), 18);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("hlot tree");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, figure_2_has_the_totals_of_the_paper);
    tcase_add_test(tests, figure_2_has_the_links_of_the_paper);
    tcase_add_test(tests, times_count_gaps_and_segments);
    tcase_add_test(tests, many_children_cost_less_in_a_line_when_messages_are_large);
    tcase_add_test(tests, hlot_is_never_worse_than_flat_nor_hlot_plus_than_any);
    tcase_add_test(tests, few_sites_get_the_best_tree_there_is);
    tcase_add_test(tests, missing_links_are_not_used_and_lost_sites_are_named);
    tcase_add_test(tests, one_site_is_a_tree);
    tcase_add_test(tests, studies_measure_kinds_by_the_best_tree);
    tcase_add_test(tests, the_best_tree_is_found);
    tcase_add_test(tests, near_sites_form_groups_that_are_entered_once);
    tcase_add_test(tests, unlike_links_leave_every_site_by_itself);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}
