/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests functions without communication: trees, blocks, the syntax of settings, and choices. */
#include "lib/algorithm/operations.h"
#include "lib/algorithm/spec.h"
#include "lib/base/size.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"
#include "lib/pattern/block.h"
#include "lib/pattern/circulant.h"
#include "lib/pattern/radix.h"
#include "lib/pattern/twotree.h"
#include "lib/pattern/usualtree.h"
#include "lib/tuning/select.h"
#include "tests/support/harness.h"

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

START_TEST(tree_depth) {
    static const int expected[][2] = {{1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {128, 7}, {129, 8}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_int_eq(coll_tree_depth(expected[i][0]), expected[i][1]);
}
END_TEST

START_TEST(tree_doublings) {
    static const int expected[][2] = {{1, 0},   {2, 1},   {3, 1},   {4, 2},
                                      {127, 6}, {128, 7}, {129, 7}, {INT_MAX, 30}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_int_eq(coll_tree_doublings(expected[i][0]), expected[i][1]);
}
END_TEST

/* Every position except 0 is the child of its parent once, and is reached in time: a position that
 * has the message sends RADIX - 1 messages in each round. Subtrees follow each other. */
static void check_knomial_tree(int p, int radix) {
    int round[200], reached[200] = {0}, known = 1;
    memset(round, -1, sizeof round);
    round[0] = 0;
    for (int next = 0; next < known; next++) {
        int position = reached[next], parent, children[200];
        int count = coll_tree_knomial(p, radix, position, &parent, children);
        ck_assert_int_eq(parent < 0, position == 0);
        for (int i = 0; i < count; i++) {
            int child = children[i], of_child, unused[200];
            ck_assert(child > 0 && child < p && round[child] == -1);
            coll_tree_knomial(p, radix, child, &of_child, unused);
            ck_assert_int_eq(of_child, position);
            ck_assert_int_eq(coll_tree_knomial_end(p, radix, child),
                             i > 0 ? children[i - 1] : coll_tree_knomial_end(p, radix, position));
            round[child] = round[position] + 1 + i / (radix - 1);
            ck_assert_int_le(round[child], coll_radix_digits(p, radix));
            reached[known++] = child;
        }
    }
    ck_assert_int_eq(known, p);
}

START_TEST(trees_reach_everyone_in_time) {
    for (int p = 1; p <= 200; p++)
        for (int radix = 2; radix <= 9; radix++)
            check_knomial_tree(p, radix);
    check_knomial_tree(200, 200);
}
END_TEST

static coll_usual_tree *const usual_trees[] = {coll_usual_line, coll_usual_binary,
                                               coll_usual_binomial, coll_usual_quadrinomial};
enum { USUAL_TREES = sizeof usual_trees / sizeof *usual_trees };

/* Returns the number of levels below the root in a tree of P positions. */
static int height_of(coll_usual_tree *tree, int p) {
    int height[200] = {0}, most = 0, unused[COLL_USUAL_CHILDREN];
    for (int position = 1; position < p; position++) {
        int parent;
        tree(p, position, &parent, unused);
        ck_assert(parent >= 0 && parent < position);
        height[position] = height[parent] + 1;
        most = height[position] > most ? height[position] : most;
    }
    return most;
}

/* Checks that every position except 0 is the child of its parent, and of no other. */
static void check_usual_tree(coll_usual_tree *tree, int p) {
    int sent[200] = {0}, parent, of_child, children[COLL_USUAL_CHILDREN],
        unused[COLL_USUAL_CHILDREN];
    for (int position = 0; position < p; position++) {
        int count = tree(p, position, &parent, children);
        ck_assert_int_eq(parent < 0, position == 0);
        for (int i = 0; i < count; i++) {
            tree(p, children[i], &of_child, unused);
            ck_assert_int_eq(of_child, position);
            sent[children[i]]++;
        }
    }
    for (int position = 0; position < p; position++)
        ck_assert_int_eq(sent[position], position > 0);
}

START_TEST(usual_trees_are_those_of_mpi_libraries) {
    for (int p = 1; p <= 200; p++) {
        for (int tree = 0; tree < USUAL_TREES; tree++)
            check_usual_tree(usual_trees[tree], p);
        if (p <= COLL_USUAL_CHILDREN)
            check_usual_tree(coll_usual_flat, p);
        ck_assert_int_eq(height_of(coll_usual_line, p), p - 1);
        ck_assert_int_eq(height_of(coll_usual_binary, p), coll_tree_depth(p + 1) - 1);
        ck_assert_int_le(height_of(coll_usual_binomial, p), coll_tree_depth(p));
        ck_assert_int_le(height_of(coll_usual_quadrinomial, p), (coll_tree_depth(p) + 1) / 2);
    }
    static const int of_root[][5] = {{1}, {1, 2}, {1, 2, 4, 8}, {4, 8, 1, 2, 3}};
    int parent, children[COLL_USUAL_CHILDREN];
    for (int tree = 0; tree < USUAL_TREES; tree++) {
        int count = usual_trees[tree](10, 0, &parent, children);
        for (int i = 0; i < 5; i++)
            ck_assert_int_eq(i < count ? children[i] : 0, of_root[tree][i]);
    }
}
END_TEST

/*
 * Checks the steps of P positions and N blocks: a sender has the block, and no position receives a
 * block twice.
 */
static void check_circulant(int p, int n) {
    coll_circulant *at = malloc((size_t)p * sizeof *at);
    bool *have = calloc((size_t)(p * n), sizeof *have),
         *next = calloc((size_t)(p * n), sizeof *next);
    for (int i = 0; i < p; i++)
        coll_circulant_init(&at[i], p, i);
    memset(next, true, (size_t)n * sizeof *next);
    long long rounds = p == 1 ? 0 : n - 1 + coll_tree_depth(p);
    for (long long round = 0; round < rounds; round++) {
        memcpy(have, next, (size_t)(p * n) * sizeof *have);
        for (int i = 0; i < p; i++) {
            coll_circulant_round mine = coll_circulant_at(&at[i], n, round);
            if (mine.receive >= 0)
                ck_assert_int_eq(coll_circulant_at(&at[mine.from], n, round).send, mine.receive);
            if (mine.send < 0)
                continue;
            coll_circulant_round theirs = coll_circulant_at(&at[mine.to], n, round);
            ck_assert(theirs.receive == mine.send && theirs.from == i);
            ck_assert_msg(have[i * n + mine.send] && !have[mine.to * n + mine.send],
                          "%d positions, %d blocks, round %lld, position %d", p, n, round, i);
            next[mine.to * n + mine.send] = true;
        }
    }
    for (int i = 0; i < p * n; i++)
        ck_assert_msg(next[i], "%d positions, %d blocks: incomplete", p, n);
    free(next);
    free(have);
    free(at);
}

START_TEST(circulant_schedules_are_complete_and_optimal) {
    for (int p = 1; p <= 70; p++)
        for (int n = 1; n <= 20; n++)
            check_circulant(p, n);
    check_circulant(129, 3);
    check_circulant(150, 33);
}
END_TEST

/*
 * Checks racks of SIZES: each position has one parent in each tree, each tree enters every rack
 * once, and no position sends more than 2 halves.
 */
static void check_two_tree(int racks, const int sizes[]) {
    int rack_of[400], hosts = 0, sends[400] = {0}, parents[2][400], children[2][800];
    int *parent[2] = {parents[0], parents[1]}, *child[2] = {children[0], children[1]};
    for (int rack = 0; rack < racks; rack++)
        for (int i = 0; i < sizes[rack]; i++)
            rack_of[hosts++] = rack;
    int scratch[COLL_TWO_TREE_SCRATCH * 400];
    coll_two_tree(hosts, rack_of, scratch, parent, child);
    for (int tree = 0; tree < 2; tree++) {
        int entered = 0, count = 0;
        ck_assert_int_eq(parent[tree][0], -1);
        for (int h = 1; h < hosts; h++) {
            int sender = parent[tree][h];
            ck_assert(sender >= 0 && sender < hosts);
            ck_assert((child[tree][2 * sender] == h) + (child[tree][2 * sender + 1] == h) == 1);
            sends[sender]++;
            entered += rack_of[sender] != rack_of[h];
            int steps = 0;
            for (int up = h; up > 0 && steps <= hosts; up = parent[tree][up])
                steps++;
            ck_assert_msg(steps <= hosts, "a cycle");
        }
        ck_assert_int_eq(entered, racks - 1);
        for (int i = 0; i < 2 * hosts; i++)
            count += child[tree][i] >= 0;
        ck_assert_int_eq(count, hosts - 1);
    }
    for (int h = 0; h < hosts; h++)
        ck_assert_int_le(sends[h], 2);
}

START_TEST(two_trees_share_the_work) {
    static const int uneven[] = {3, 7, 1, 11}, ones[] = {1, 1, 1, 1, 1}, large[] = {30, 30, 30, 30};
    check_two_tree(4, uneven);
    check_two_tree(5, ones);
    check_two_tree(4, large);
    srand(3);
    for (int i = 0; i < 2000; i++) {
        int sizes[8], racks = 1 + rand() % 8;
        for (int rack = 0; rack < racks; rack++)
            sizes[rack] = 1 + rand() % (i % 3 ? 6 : 30);
        check_two_tree(racks, sizes);
    }
}
END_TEST

/* Returns the hops from the root to the farthest host in either tree. */
static int depth_of(int hosts, int *const parent[2]) {
    int deepest = 0;
    for (int tree = 0; tree < 2; tree++)
        for (int h = 0; h < hosts; h++) {
            int depth = 0;
            for (int up = h; parent[tree][up] >= 0; up = parent[tree][up])
                depth++;
            deepest = depth > deepest ? depth : deepest;
        }
    return deepest;
}

START_TEST(two_trees_are_shallow) {
    int rack_of[150], parents[2][150], children[2][300], scratch[COLL_TWO_TREE_SCRATCH * 150];
    int *parent[2] = {parents[0], parents[1]}, *child[2] = {children[0], children[1]};
    for (int h = 0; h < 150; h++)
        rack_of[h] = h / 30;
    coll_two_tree(150, rack_of, scratch, parent, child);
    ck_assert_int_eq(depth_of(150, parent), 9);
    coll_two_tree(30, rack_of, scratch, parent, child);
    ck_assert_int_eq(depth_of(30, parent), 5);
}
END_TEST

START_TEST(blocks_cover_everything_evenly) {
    static const size_t sizes[] = {0, 1, 6, 7, 8, 1000, (size_t)5 << 30};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int p = 1; p <= 13; p++) {
            size_t shortest = sizes[s] / (size_t)p, end = 0;
            for (int i = 0; i < p; i++) {
                ck_assert_uint_eq(coll_block_start(sizes[s], p, i), end);
                size_t length = coll_block_length(sizes[s], p, i);
                ck_assert(length == shortest || length == shortest + 1);
                end += length;
            }
            ck_assert_uint_eq(end, sizes[s]);
        }
}
END_TEST

START_TEST(sizes_are_read_and_printed) {
    static const struct {
        const char *text;
        bool good;
        uint64_t value;
    } cases[] = {
        {"0", true, 0},
        {"4096", true, 4096},
        {"64K", true, 65536},
        {"64k", true, 65536},
        {"3G", true, (uint64_t)3 << 30},
        {"16777215T", true, (uint64_t)16777215 << 40},
        {"16777216T", false, 0},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"", false, 0},
        {"K", false, 0},
        {"-1", false, 0},
        {"1KB", false, 0},
        {"1.5K", false, 0},
        {" 1", false, 0},
        {"1X", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 0;
        bool good = coll_spec_size(cases[i].text, strlen(cases[i].text), &value);
        ck_assert_msg(good == cases[i].good, "%s", cases[i].text);
        if (good)
            ck_assert_msg(value == cases[i].value, "%s", cases[i].text);
    }
    char text[32];
    coll_spec_print_size(32768, text, sizeof text);
    ck_assert_str_eq(text, "32K");
    coll_spec_print_size(1000, text, sizeof text);
    ck_assert_str_eq(text, "1000");
    coll_spec_print_size(0, text, sizeof text);
    ck_assert_str_eq(text, "0");
    coll_spec_print_size((uint64_t)2048 << 40, text, sizeof text);
    ck_assert_str_eq(text, "2048T");
}
END_TEST

static const char *refusal(const char *spec_text) {
    coll_spec spec;
    int code = coll_spec_parse("COLL_BCAST", spec_text, coll_operations[COLL_OPERATION_BCAST].table,
                               &spec);
    ck_assert_msg(code != MPI_SUCCESS, "%s was accepted", spec_text);
    return harness_text(code);
}

START_TEST(specs_are_read) {
    coll_spec spec;
    ck_assert_int_eq(coll_spec_parse("X", NULL, coll_operations[COLL_OPERATION_BCAST].table, &spec),
                     MPI_SUCCESS);
    ck_assert_ptr_null(spec.algorithm);
    ck_assert_int_eq(
        coll_spec_parse("X", "auto", coll_operations[COLL_OPERATION_BCAST].table, &spec),
        MPI_SUCCESS);
    ck_assert_ptr_null(spec.algorithm);
    ck_assert_int_eq(
        coll_spec_parse("X", "chain", coll_operations[COLL_OPERATION_BCAST].table, &spec),
        MPI_SUCCESS);
    ck_assert_ptr_eq(spec.algorithm, &coll_bcast_chain);
    ck_assert_uint_eq(spec.values.at[0], 0);
    ck_assert_uint_eq(spec.values.at[1], 0);
    ck_assert_int_eq(coll_spec_parse("X", "chain:window=3,segment=8K",
                                     coll_operations[COLL_OPERATION_BCAST].table, &spec),
                     MPI_SUCCESS);
    ck_assert_uint_eq(spec.values.at[0], 8192);
    ck_assert_uint_eq(spec.values.at[1], 3);

    /* Older names. */
    ck_assert_int_eq(coll_spec_parse("X", "chain:window=3,chunk=8K",
                                     coll_operations[COLL_OPERATION_BCAST].table, &spec),
                     MPI_SUCCESS);
    ck_assert_uint_eq(spec.values.at[0], 8192);
    ck_assert_int_eq(coll_spec_parse("X", "bine:window=3,segment=8K",
                                     coll_operations[COLL_OPERATION_BCAST].table, &spec),
                     MPI_SUCCESS);
    ck_assert_ptr_eq(spec.algorithm, &coll_bcast_two_tree);
    ck_assert_uint_eq(spec.values.at[1], 3);

    ck_assert_int_eq(coll_spec_parse("X", "chain:window=3,chunk=8K",
                                     coll_operations[COLL_OPERATION_BCAST].table, &spec),
                     MPI_SUCCESS);
    char text[COLL_SPEC_MAX];
    coll_spec_print(spec.algorithm, &spec.values, text, sizeof text);
    ck_assert_str_eq(text, "chain:segment=8K,window=3,confirm=0,retry=2");
}
END_TEST

START_TEST(bad_specs_name_setting_value_and_remedy) {
    ck_assert_str_eq(refusal("nonsense"),
                     "COLL_BCAST=nonsense: unknown algorithm; allowed: auto, native, linear, "
                     "binomial, scatter_allgather, chain, circulant, two_tree, multi_leader, flat, "
                     "hlot");
    ck_assert_str_eq(refusal("chain:window=2K"),
                     "COLL_BCAST=chain:window=2K: window must be 0 to 1K");
    ck_assert_str_eq(refusal("chain:chunk=2G"),
                     "COLL_BCAST=chain:chunk=2G: segment must be 0 to 1G");
    ck_assert_str_eq(
        refusal("chain:segment=8K,window=2,chunk=8K"),
        "COLL_BCAST=chain:segment=8K,window=2,chunk=8K: segment is there twice; keep one");
    ck_assert_str_eq(refusal("chain:window=x"),
                     "COLL_BCAST=chain:window=x: window must be 0 to 1K");
    ck_assert_str_eq(
        refusal("chain:segments=1"),
        "COLL_BCAST=chain:segments=1: unknown parameter; chain takes: segment, window, confirm, "
        "retry");
    ck_assert_str_eq(refusal("linear:chunk=1"),
                     "COLL_BCAST=linear:chunk=1: unknown parameter; linear takes: none");
    static const char *const others[] = {"",        "chai",    "chain:",        "chain:segment",
                                         "chain:,", "chain:=", "chain segment", "auto:chunk=1"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_ptr_nonnull(refusal(others[i]));
    char longest[4 * COLL_SPEC_MAX];
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    ck_assert_ptr_nonnull(strstr(refusal(longest), "longer than"));
}
END_TEST

/* Makes a topology of RANKS ranks on nodes of one rack, in blocks of PER_NODE. */
static coll_topo flat_topo(int ranks, int per_node) {
    coll_topo topo = {.ranks = ranks,
                      .sites = 1,
                      .racks = 1,
                      .nodes = (ranks + per_node - 1) / per_node,
                      .most_ranks_per_node = per_node,
                      .cores_per_node = per_node};
    topo.places = calloc((size_t)ranks, sizeof *topo.places);
    for (int i = 0; i < ranks; i++)
        topo.places[i].node = i / per_node;
    return topo;
}

static coll_spec named(coll_operation operation, const char *user) {
    coll_spec spec;
    ck_assert_int_eq(coll_spec_parse("X", user, coll_operations[operation].table, &spec),
                     MPI_SUCCESS);
    return spec;
}

static coll_shape shape_of(coll_operation operation, size_t bytes, const coll_topo *topo) {
    return (coll_shape){.operation = operation,
                        .sides = coll_operations[operation].sides,
                        .bytes = bytes,
                        .root = coll_operations[operation].rootless ? COLL_NO_ROOT : 0,
                        .element = coll_operations[operation].reduces ? 8 : 0,
                        .topo = topo,
                        .profile = coll_profile_builtin()};
}

static const char *chosen(const coll_topo *topo, size_t bytes, const char *user) {
    const coll_spec spec = named(COLL_OPERATION_BCAST, user);
    const coll_shape shape = shape_of(COLL_OPERATION_BCAST, bytes, topo);
    return coll_select(&shape, &spec).algorithm->name;
}

/* Returns what is chosen for OPERATION with 8 bytes if messages take LATENCY s to another host. */
static const char *chosen_after(coll_operation operation, const coll_topo *topo, double latency) {
    const coll_spec spec = named(operation, "auto");
    coll_shape shape = shape_of(operation, 8, topo);
    coll_profile profile = *coll_profile_builtin();
    coll_profile_set_latencies(&profile, latency, latency);
    shape.profile = &profile;
    return coll_select(&shape, &spec).algorithm->name;
}

START_TEST(long_latencies_call_for_flat_trees) {
    coll_topo cluster = flat_topo(16, 1);
    ck_assert_str_eq(chosen_after(COLL_OPERATION_BCAST, &cluster, 50e-6), "native");
    ck_assert_str_eq(chosen_after(COLL_OPERATION_BCAST, &cluster, 5e-3), "multi_leader");
    ck_assert_str_eq(chosen_after(COLL_OPERATION_REDUCE, &cluster, 5e-3), "multi_leader");
    free(cluster.places);
}
END_TEST

START_TEST(choice_follows_word_node_and_model) {
    coll_topo node = flat_topo(8, 8), cluster = flat_topo(25, 1);
    ck_assert_str_eq(chosen(&node, 64 << 20, "auto"), "native");
    ck_assert_str_eq(chosen(&node, 64 << 20, "chain"), "chain");
    ck_assert_str_eq(chosen(&cluster, 64 << 20, "auto"), "chain");
    ck_assert_str_eq(chosen(&cluster, 256 << 10, "auto"), "two_tree");
    ck_assert_str_eq(chosen(&cluster, 8, "auto"), "native");
    ck_assert_str_eq(chosen(&cluster, 8, "linear"), "linear");
    free(node.places);
    free(cluster.places);
}
END_TEST

/* If a named algorithm cannot run, another one runs, and the trace says why. */
START_TEST(what_is_named_and_can_not_run_says_why) {
    coll_topo node = flat_topo(8, 8), cluster = flat_topo(25, 1);
    const struct {
        coll_operation operation;
        const char *named, *obstacle;
        const coll_topo *topo;
        size_t bytes;
        bool ordered, reproducible, blocks;
    } cases[] = {
        {COLL_OPERATION_ALLREDUCE, "racks", "all ranks are on one host", &node, .bytes = 8},
        {COLL_OPERATION_ALLTOALL, "racks", "all ranks are on one host", &node, .bytes = 8},
        {COLL_OPERATION_BCAST, "flat", "all ranks are on one host", &node, .bytes = 8},
        {COLL_OPERATION_ALLREDUCE, "racks", "all hosts are in one rack", &cluster, .bytes = 8},
        {COLL_OPERATION_ALLREDUCE, "ring", "the operation does not commute", &node, .bytes = 8,
         .ordered = true},
        {COLL_OPERATION_ALLREDUCE, "ring", "COLL_REPRODUCIBLE is set", &node, .bytes = 8,
         .ordered = true, .reproducible = true},
        {COLL_OPERATION_ALLTOALL, "bruck", "the data is too large for it", &node,
         .bytes = (size_t)1 << 40},
        {COLL_OPERATION_GATHER, "binomial", "sizes may differ by rank", &node,
         .bytes = COLL_BYTES_UNKNOWN},
        {COLL_OPERATION_ALLREDUCE, "dcp", "no dedicated processors serve such a call", &node,
         .bytes = 8},
        {COLL_OPERATION_BCAST, "chain:confirm=1", "only blocking operations can use it", &node,
         .bytes = 8, .blocks = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const coll_spec spec = named(cases[i].operation, cases[i].named);
        coll_shape shape = shape_of(cases[i].operation, cases[i].bytes, cases[i].topo);
        shape.ordered = cases[i].ordered;
        shape.reproducible = cases[i].reproducible;
        coll_choice blocking = coll_select(&shape, &spec),
                    started = coll_select_started(&shape, &spec);
        ck_assert_str_eq(coll_select_obstacle(spec.algorithm, &shape), cases[i].obstacle);
        ck_assert_ptr_nonnull(started.algorithm);
        ck_assert_ptr_ne(started.algorithm, spec.algorithm);
        if (cases[i].blocks) {
            ck_assert_ptr_eq(blocking.algorithm, spec.algorithm);
            ck_assert_str_eq(started.why, "what was asked for can't be started");
            continue;
        }
        ck_assert_ptr_ne(blocking.algorithm, spec.algorithm);
        ck_assert(coll_select_applicable(blocking.algorithm, &shape));
        ck_assert_str_eq(blocking.why, "what was asked for is not applicable here");
        ck_assert_str_eq(started.why, blocking.why);
    }
    free(node.places);
    free(cluster.places);
}
END_TEST

/* The best segment is sqrt(m a / ((p - 2) B)), within 4 KB and 32 KB, and divides m evenly. */
START_TEST(segments_are_the_best) {
    const coll_cost *link = &coll_profile_builtin()->level[COLL_LEVEL_RACK];
    const double m = 1 << 20, best = sqrt(m * link->overhead / (23 * link->per_byte));
    ck_assert_uint_eq(coll_profile_segment_or(0, link, 1 << 20, 23),
                      (size_t)ceil(m / round(m / best)));
    ck_assert_uint_eq(coll_profile_segment_or(0, link, 1 << 30, 1), 32 << 10);
    ck_assert_uint_eq(coll_profile_segment_or(0, link, 64 << 10, 1000), 4 << 10);
    ck_assert_uint_eq(coll_profile_segment_or(0, link, 4095, 1000), 2048);
    ck_assert_uint_eq(coll_profile_segment_or(0, link, 1500, 1000), 1024);
    ck_assert_uint_eq(coll_profile_segment_or(0, link, 7, 1000), 7);
}
END_TEST

START_TEST(radices_are_the_best) {
    const coll_cost far = {.latency = 100, .overhead = 1}, slow = {.overhead = 1};
    ck_assert_int_eq(coll_profile_radix_or(0, &far, 16), 4);
    ck_assert_int_eq(coll_profile_radix_or(0, &far, 7), 7);
    ck_assert_int_eq(coll_profile_radix_or(0, &far, 2), 2);
    ck_assert_int_eq(coll_profile_radix_or(0, &slow, 16), 2);
    ck_assert_int_eq(coll_profile_radix_or(6, &slow, 16), 6);
}
END_TEST

static Suite *patterns(void) {
    Suite *suite = suite_create("patterns");
    TCase *tests = tcase_create("pure");
    tcase_add_test(tests, tree_depth);
    tcase_add_test(tests, tree_doublings);
    tcase_add_test(tests, trees_reach_everyone_in_time);
    tcase_add_test(tests, usual_trees_are_those_of_mpi_libraries);
    tcase_add_test(tests, circulant_schedules_are_complete_and_optimal);
    tcase_add_test(tests, two_trees_share_the_work);
    tcase_add_test(tests, two_trees_are_shallow);
    tcase_add_test(tests, blocks_cover_everything_evenly);
    tcase_add_test(tests, sizes_are_read_and_printed);
    tcase_add_test(tests, specs_are_read);
    tcase_add_test(tests, bad_specs_name_setting_value_and_remedy);
    tcase_add_test(tests, choice_follows_word_node_and_model);
    tcase_add_test(tests, long_latencies_call_for_flat_trees);
    tcase_add_test(tests, what_is_named_and_can_not_run_says_why);
    tcase_add_test(tests, segments_are_the_best);
    tcase_add_test(tests, radices_are_the_best);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1", patterns);
}
