/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests partitions and routes: that they are balanced, and that all ranks' views of a stage are
 * consistent.
 */
#include "lib/aggregate/partition.h"

#include "tests/support/harness.h"

#include <check.h>
#include <stdlib.h>

/* Layouts: the node of each rank, followed by -1. */
static const int one_rank[] = {0, -1};
static const int one_node[] = {0, 0, 0, 0, 0, -1};
static const int all_apart[] = {0, 1, 2, 3, 4, 5, 6, -1};
static const int even[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, -1};
static const int uneven[] = {0, 0, 0, 1, 2, 2, 2, 2, -1};
static const int scattered[] = {0, 1, 2, 0, 1, 2, 0, 1, 0, 0, 2, 2, 2, -1};
static const int *const layouts[] = {one_rank, one_node, all_apart, even, uneven, scattered};
enum { LAYOUTS = sizeof layouts / sizeof *layouts, RANKS_MOST = 13 };

static void read_layout(const int *node_of, coll_layout *layout) {
    coll_place places[RANKS_MOST];
    coll_topo topo = {.places = places};
    for (; node_of[topo.ranks] >= 0; topo.ranks++) {
        places[topo.ranks] = (coll_place){.node = node_of[topo.ranks]};
        if (node_of[topo.ranks] >= topo.nodes)
            topo.nodes = node_of[topo.ranks] + 1;
    }
    ck_assert(coll_layout_create(&topo, layout));
}

START_TEST(owners_are_balanced) {
    enum { KEYS = 130000 };
    int counts[RANKS_MOST] = {0};
    for (uint64_t key = 0; key < KEYS; key++) {
        int owner = coll_partition_owner(coll_partition_hash(key), RANKS_MOST);
        ck_assert(owner >= 0 && owner < RANKS_MOST);
        counts[owner]++;
    }
    for (int i = 0; i < RANKS_MOST; i++)
        ck_assert(abs(counts[i] - KEYS / RANKS_MOST) < 500);
}
END_TEST

START_TEST(owner_bounds) {
    ck_assert_int_eq(coll_partition_owner(0, 1), 0);
    ck_assert_int_eq(coll_partition_owner(UINT64_MAX, 1), 0);
    ck_assert_int_eq(coll_partition_owner(0, INT32_MAX), 0);
    ck_assert_int_eq(coll_partition_owner(UINT64_MAX, INT32_MAX), INT32_MAX - 1);
    ck_assert_int_eq(coll_partition_owner(UINT64_C(1) << 63, 2), 1);
    ck_assert_int_eq(coll_partition_owner((UINT64_C(1) << 63) - 1, 2), 0);
}
END_TEST

START_TEST(layout_is_read) {
    coll_layout layout;
    read_layout(scattered, &layout);
    ck_assert_int_eq(layout.ranks, 13);
    ck_assert_int_eq(layout.nodes, 3);
    const int members[] = {0, 3, 6, 8, 9, 1, 4, 7, 2, 5, 10, 11, 12};
    for (int i = 0; i < 13; i++) {
        ck_assert_int_eq(layout.members[i], members[i]);
        ck_assert_int_eq(layout.members[layout.first[layout.node[i]] + layout.index[i]], i);
    }
    coll_layout_free(&layout);
}
END_TEST

START_TEST(collectors) {
    coll_layout layout;
    read_layout(uneven, &layout);
    for (int owner = 0; owner < 8; owner++) {
        ck_assert_int_eq(coll_layout_collector(&layout, layout.node[owner], owner), owner);
        if (owner != 3)
            ck_assert_int_eq(coll_layout_collector(&layout, 1, owner), 3);
    }
    ck_assert_int_eq(coll_layout_collector(&layout, 0, 5), 1);
    ck_assert_int_eq(coll_layout_collector(&layout, 0, 7), 0);
    ck_assert_int_eq(coll_layout_collector(&layout, 2, 2), 6);
    coll_layout_free(&layout);
}
END_TEST

static void make_all(const coll_layout *layout, coll_route_maker *make, int root,
                     coll_route routes[]) {
    for (int rank = 0; rank < layout->ranks; rank++)
        ck_assert(coll_route_create(layout, make, rank, root, &routes[rank]));
}

static void free_all(const coll_layout *layout, coll_route routes[]) {
    for (int rank = 0; rank < layout->ranks; rank++)
        coll_route_free(&routes[rank]);
}

/*
 * Simulates a stage of rendezvous messages: a send and a receive complete if each is at the head of
 * its rank's list. All lists must complete: every send has its receive, no rank sends to itself,
 * and there is no deadlock.
 */
static void play(const coll_layout *layout, const coll_route routes[]) {
    int sent[RANKS_MOST] = {0}, received[RANKS_MOST] = {0};
    bool moved = true;
    while (moved) {
        moved = false;
        for (int from = 0; from < layout->ranks; from++) {
            if (sent[from] == routes[from].send_count)
                continue;
            int to = routes[from].sends[sent[from]];
            ck_assert_int_ne(to, from);
            if (received[to] == routes[to].receive_count ||
                routes[to].receives[received[to]] != from)
                continue;
            sent[from]++;
            received[to]++;
            moved = true;
        }
    }
    for (int rank = 0; rank < layout->ranks; rank++) {
        ck_assert_int_eq(sent[rank], routes[rank].send_count);
        ck_assert_int_eq(received[rank], routes[rank].receive_count);
    }
}

START_TEST(stages_fit_together) {
    coll_route_maker *const makers[] = {coll_route_to_collectors, coll_route_to_owners,
                                        coll_route_all_to_owners, coll_route_to_root};
    coll_layout layout;
    read_layout(layouts[_i], &layout);
    coll_route routes[RANKS_MOST];
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++) {
        for (int root = 0; root < layout.ranks; root++) {
            make_all(&layout, makers[m], root, routes);
            play(&layout, routes);
            free_all(&layout, routes);
        }
    }
    coll_layout_free(&layout);
}
END_TEST

/* Returns the rank to which a key of OWNER moves from AT. */
static int next_stop(const coll_route routes[], int at, int owner) {
    int group = routes[at].group_of[owner];
    ck_assert_int_lt(group, routes[at].send_count);
    return group < 0 ? at : routes[at].sends[group];
}

START_TEST(keys_reach_owner_and_root) {
    coll_layout layout;
    read_layout(layouts[_i], &layout);
    coll_route local[RANKS_MOST], group[RANKS_MOST], all[RANKS_MOST], gather[RANKS_MOST];
    int root = layout.ranks / 2;
    make_all(&layout, coll_route_to_collectors, root, local);
    make_all(&layout, coll_route_to_owners, root, group);
    make_all(&layout, coll_route_all_to_owners, root, all);
    make_all(&layout, coll_route_to_root, root, gather);
    for (int from = 0; from < layout.ranks; from++) {
        for (int owner = 0; owner < layout.ranks; owner++) {
            int collector = next_stop(local, from, owner);
            ck_assert_int_eq(layout.node[collector], layout.node[from]);
            ck_assert_int_eq(next_stop(group, collector, owner), owner);
            ck_assert_int_eq(next_stop(all, from, owner), owner);
            ck_assert_int_eq(next_stop(gather, owner, owner), root);
        }
    }
    free_all(&layout, local);
    free_all(&layout, group);
    free_all(&layout, all);
    free_all(&layout, gather);
    coll_layout_free(&layout);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("partition");
    TCase *cases = tcase_create("partition");
    tcase_add_test(cases, owners_are_balanced);
    tcase_add_test(cases, owner_bounds);
    tcase_add_test(cases, layout_is_read);
    tcase_add_test(cases, collectors);
    tcase_add_loop_test(cases, stages_fit_together, 0, LAYOUTS);
    tcase_add_loop_test(cases, keys_reach_owner_and_root, 0, LAYOUTS);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
