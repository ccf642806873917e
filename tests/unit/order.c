/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests properties of the chain order on random topologies. */
#include "config.h"

#include "lib/algorithm/rank_order.h"
#include "tests/support/harness.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 60 };

static uint32_t draw(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Returns the number of the group of PLACE at LEVEL. */
static int member_of(const coll_place *place, coll_level level) {
    switch (level) {
    case COLL_LEVEL_WIDE:
        return place->site;
    case COLL_LEVEL_SITE:
        return place->rack;
    case COLL_LEVEL_RACK:
        return place->node;
    default:
        return place->node * RANKS_MOST + place->numa;
    }
}

/*
 * Renumbers COUNT labels from 0 in the order of their first appearance. Returns how many there are.
 */
static int number(int labels[], int count) {
    int numbers[RANKS_MOST], next = 0;
    for (int i = 0; i < count; i++) {
        numbers[i] = -1;
        for (int j = 0; j < i && numbers[i] < 0; j++)
            if (labels[j] == labels[i])
                numbers[i] = numbers[j];
        if (numbers[i] < 0)
            numbers[i] = next++;
    }
    memcpy(labels, numbers, (size_t)count * sizeof *labels);
    return next;
}

/* Places ranks on random nodes, these in random racks, and these at random sites. */
static coll_topo random_topo(coll_place places[], uint32_t *state) {
    coll_topo topo = {.ranks = 1 + (int)(draw(state) % RANKS_MOST), .places = places};
    int node[RANKS_MOST], rack[RANKS_MOST], site[RANKS_MOST];
    int rack_of[RANKS_MOST], site_of[RANKS_MOST];
    uint32_t nodes = 1 + draw(state) % RANKS_MOST, racks = 1 + draw(state) % nodes;
    uint32_t sites = 1 + draw(state) % racks;
    for (int i = 0; i < RANKS_MOST; i++) {
        rack_of[i] = (int)(draw(state) % racks);
        site_of[i] = (int)(draw(state) % sites);
    }
    for (int rank = 0; rank < topo.ranks; rank++) {
        node[rank] = (int)(draw(state) % nodes);
        rack[rank] = rack_of[node[rank]];
        site[rank] = site_of[rack[rank]];
        places[rank].numa = (int)(draw(state) % 3);
    }
    topo.nodes = number(node, topo.ranks);
    topo.racks = number(rack, topo.ranks);
    topo.sites = number(site, topo.ranks);
    for (int rank = 0; rank < topo.ranks; rank++) {
        places[rank].node = node[rank];
        places[rank].rack = rack[rank];
        places[rank].site = site[rank];
    }
    return topo;
}

/* Returns how often neighbours in ORDER are in different groups. */
static int changes(const coll_topo *topo, const int order[], coll_level level) {
    int count = 0;
    for (int i = 1; i < topo->ranks; i++)
        count += member_of(&topo->places[order[i - 1]], level) !=
                 member_of(&topo->places[order[i]], level);
    return count;
}

static int groups(const coll_topo *topo, coll_level level) {
    int labels[RANKS_MOST];
    for (int rank = 0; rank < topo->ranks; rank++)
        labels[rank] = member_of(&topo->places[rank], level);
    return number(labels, topo->ranks);
}

/* With G groups, G - 1 is the minimum of changes; each group is then visited in one go. */
START_TEST(every_group_is_visited_at_once_and_the_root_first) {
    uint32_t state = 7;
    for (int round = 0; round < 3000; round++) {
        coll_place places[RANKS_MOST];
        coll_topo topo = random_topo(places, &state);
        int root = (int)(draw(&state) % (uint32_t)topo.ranks);
        int order[RANKS_MOST];
        bool seen[RANKS_MOST] = {false};
        coll_order_ranks(&(coll_shape){.topo = &topo, .root = root}, order);
        ck_assert_int_eq(order[0], root);
        for (int i = 0; i < topo.ranks; i++) {
            ck_assert(order[i] >= 0 && order[i] < topo.ranks && !seen[order[i]]);
            seen[order[i]] = true;
        }
        for (coll_level level = COLL_LEVEL_NODE; level <= COLL_LEVEL_WIDE; level++)
            ck_assert_int_eq(changes(&topo, order, level), groups(&topo, level) - 1);
        ck_assert_int_eq(changes(&topo, order, COLL_LEVEL_SITE), topo.racks - 1);
    }
}
END_TEST

START_TEST(equals_come_in_ascending_order_from_the_root_on) {
    coll_place places[5] = {{0}};
    coll_topo topo = {.ranks = 5, .sites = 1, .racks = 1, .nodes = 1, .places = places};
    int order[5];
    coll_order_ranks(&(coll_shape){.topo = &topo, .root = 3}, order);
    static const int around[] = {3, 4, 0, 1, 2};
    ck_assert_mem_eq(order, around, sizeof around);
}
END_TEST

/* Places are given as site, rack, node, NUMA domain. */
START_TEST(a_small_cluster_is_visited_from_near_to_far) {
    coll_place places[] = {
        {0, 0, 0, 0}, {0, 1, 1, 0}, {0, 0, 2, 0}, {1, 2, 3, 0},
        {0, 1, 1, 1}, {0, 0, 0, 1}, {0, 1, 1, 0}, {0, 0, 2, 0},
    };
    coll_topo topo = {.ranks = 8, .sites = 2, .racks = 3, .nodes = 4, .places = places};
    static const int from_4[] = {4, 6, 1, 7, 2, 5, 0, 3};
    int order[8];
    coll_order_ranks(&(coll_shape){.topo = &topo, .root = 4}, order);
    for (int i = 0; i < topo.ranks; i++)
        ck_assert_int_eq(order[i], from_4[i]);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("order");
    TCase *tests = tcase_create("order");
    tcase_add_test(tests, every_group_is_visited_at_once_and_the_root_first);
    tcase_add_test(tests, equals_come_in_ascending_order_from_the_root_on);
    tcase_add_test(tests, a_small_cluster_is_visited_from_near_to_far);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}
