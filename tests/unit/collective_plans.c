/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proves the plans of allreduce, alltoall and the other operations without MPI, as
 * tests/unit/plans.c does for broadcasts and gathers: every algorithm of their tables that is a
 * plan.
 */
#include "lib/algorithm/spec.h"
#include "lib/allgather/allgather.h"
#include "lib/allreduce/allreduce.h"
#include "lib/alltoall/alltoall.h"
#include "lib/barrier/barrier.h"
#include "lib/pattern/binomial.h"
#include "lib/reduce/reduce.h"
#include "lib/reduce_scatter/reduce_scatter.h"
#include "lib/sim/sim.h"
#include "tests/support/generator.h"
#include "tests/support/harness.h"
#include "tests/support/mutant.h"
#include "tests/support/prover.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The claim of a head comment about uplinks: the most bytes into a rack and out of it, in a call on
 * TOPO in which each rank contributes or receives BYTES. There is no claim if the head comment has
 * none, or if an MPI_Op does not commute.
 */
typedef size_t traffic(const coll_topo *topo, size_t bytes);
typedef struct claim {
    const coll_algorithm *algorithm;
    traffic *into, *out;
} claim;

/* For a ring: all but one part, twice. */
static size_t twice(const coll_topo *topo, size_t bytes) {
    (void)topo;
    return 2 * bytes;
}

/* For a chain whose rank order goes from rack to rack. */
static size_t up_and_down(const coll_topo *topo, size_t bytes) {
    (void)topo;
    return 2 * bytes;
}

/* All partial sums of a rack except its piece of each group, twice. */
static size_t once_from_each_rack(const coll_topo *topo, size_t bytes) {
    return 2 * (bytes - bytes / (size_t)topo->racks);
}

static size_t once(const coll_topo *topo, size_t bytes) {
    (void)topo;
    return bytes;
}

/* For a ring of blocks. */
static size_t all_but_one(const coll_topo *topo, size_t bytes) {
    return (size_t)(topo->ranks - 1) * bytes;
}

static size_t tree_depth(const coll_topo *topo, size_t bytes) {
    return (size_t)coll_tree_depth(topo->ranks) * bytes;
}

/* Every block once. */
static size_t all_blocks(const coll_topo *topo, size_t bytes) {
    return (size_t)topo->ranks * bytes;
}

/* Each block from a rank of the rack to a rank of another rack. */
static size_t all_pairs(const coll_topo *topo, size_t bytes) {
    size_t most = 0;
    for (int rack = 0; rack < topo->racks; rack++) {
        size_t ranks = 0;
        for (int rank = 0; rank < topo->ranks; rank++)
            ranks += topo->places[rank].rack == rack;
        size_t pairs = ranks * ((size_t)topo->ranks - ranks);
        most = pairs > most ? pairs : most;
    }
    return most * bytes;
}

static const claim claims[] = {
    {&coll_allreduce_ring, twice, twice},
    {&coll_allreduce_chain, up_and_down, up_and_down},
    {&coll_allreduce_racks, once_from_each_rack, once_from_each_rack},
    {&coll_reduce_chain, once, once},
    {&coll_reduce_two_tree, once, once},
    {&coll_reduce_binomial, tree_depth, tree_depth},
    {&coll_reduce_scatter_ring, all_but_one, all_but_one},
    {&coll_allgather_ring, all_blocks, all_blocks},
    {&coll_alltoall_pairwise, all_pairs, all_pairs},
    {&coll_alltoall_racks, all_pairs, all_pairs},
};

static const claim *claim_of(const coll_algorithm *algorithm) {
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        if (claims[i].algorithm == algorithm)
            return &claims[i];
    return NULL;
}

/* The largest number of plans in all tables. */
enum { MOST = 100 };
typedef struct subject {
    coll_operation operation;
    const coll_algorithm *algorithm;
    bool even; /* all its blocks have the same length */
} subject;
static subject subjects[MOST];
static int subject_count;

static void find_subjects(void) {
    static const subject stand_ins[] = {
        {COLL_OPERATION_REDUCE, &coll_reduce_usual_line, true},
        {COLL_OPERATION_REDUCE, &coll_reduce_usual_binary, true},
        {COLL_OPERATION_REDUCE, &coll_reduce_usual_in_order, true},
        {COLL_OPERATION_REDUCE, &coll_reduce_usual_flat, true},
        {COLL_OPERATION_REDUCE_SCATTER, &coll_reduce_scatter_usual_halving, true},
        {COLL_OPERATION_REDUCE_SCATTER, &coll_reduce_scatter_usual_butterfly, true},
        {COLL_OPERATION_ALLGATHER, &coll_allgather_usual_doubling, true},
        {COLL_OPERATION_ALLGATHER, &coll_allgather_usual_neighbors, true},
        {COLL_OPERATION_BARRIER, &coll_barrier_usual_linear, true},
        {COLL_OPERATION_BARRIER, &coll_barrier_usual_doubling, true},
    };
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
        subjects[subject_count++] = stand_ins[i];
    for (coll_operation o = COLL_OPERATION_ALLREDUCE; o < COLL_OPERATIONS; o++)
        for (const coll_algorithm *const *a = coll_operations[o].table; *a; a++)
            if ((*a)->planner && !coll_operations[o].neighbors) /* tests/mpi/neighbors.c */
                subjects[subject_count++] = (subject){o, *a, false};
}

/* A case of a subject. Everything except its size follows from TURN. */
typedef struct trial {
    prover_call call;
    coll_topo topo;
    size_t *counts;
} trial;

/* Returns values for small tests: segments of about a byte, and windows of 1, 4 or all. */
static coll_values small_values(const coll_algorithm *algorithm, int turn) {
    static const uint64_t segments[] = {1, 2, 5}, windows[] = {1, 4, 1024, 2},
                          radices[] = {2, 3, 4, 8};
    coll_values values = coll_values_default(algorithm);
    for (int i = 0; algorithm->params[i].name; i++) {
        if (strcmp(algorithm->params[i].name, "segment") == 0)
            values.at[i] = segments[turn % 3];
        else if (strcmp(algorithm->params[i].name, "window") == 0)
            values.at[i] = windows[turn / 3 % 4];
        else if (strcmp(algorithm->params[i].name, "radix") == 0)
            values.at[i] = turn % 5 == 4 ? values.at[i] : radices[turn % 5];
    }
    return values;
}

/*
 * Returns whether blocks may differ in size: 0 if not, 1 if all ranks know all sizes, 2 if each
 * rank knows only its own.
 */
static int unevenness(const subject *what) {
    if (what->even)
        return 0;
    switch (what->operation) {
    case COLL_OPERATION_REDUCE_SCATTER:
    case COLL_OPERATION_ALLGATHER:
        return 1;
    case COLL_OPERATION_ALLTOALL:
    case COLL_OPERATION_SCATTER:
        return 2;
    default:
        return 0;
    }
}

/* Makes blocks of about BYTES, some empty and one much longer. */
static void make_uneven(trial *t, int knowledge, size_t bytes) {
    size_t ranks = (size_t)t->topo.ranks,
           blocks = t->call.operation == COLL_OPERATION_ALLTOALL ? ranks * ranks : ranks, all = 0;
    t->counts = malloc(blocks * sizeof *t->counts);
    if (!t->counts)
        abort();
    for (size_t i = 0; i < blocks; i++) {
        t->counts[i] = i % ranks == ranks / 2 ? 4 * bytes : (i * 5 + 3) % 7 * bytes / 4;
        all += t->counts[i];
    }
    t->call.counts = t->counts;
    t->call.shape.bytes = knowledge == 1 ? (all + ranks - 1) / ranks : COLL_BYTES_UNKNOWN;
}

/* Makes sites of up to three racks each, with different latencies or with equal ones. */
static void make_sites(trial *t, int turn) {
    coll_topo *topo = &t->topo;
    int racks = 1 + turn % 3;
    for (int rank = 0; rank < topo->ranks; rank++)
        topo->places[rank].site = topo->places[rank].rack / racks;
    topo->sites = topo->places[topo->ranks - 1].site + 1;
    int pairs = topo->sites * topo->sites;
    topo->latencies = malloc((size_t)pairs * sizeof *topo->latencies);
    if (!topo->latencies)
        abort();
    for (int i = 0; i < pairs; i++)
        topo->latencies[i] = 1e-3 * (1 + (i * 37 + turn * 11) % 29);
    t->call.shape.latencies = turn % 4 == 3 ? NULL : topo->latencies;
}

static bool applies(const trial *t) {
    const coll_algorithm *algorithm = t->call.algorithm;
    return (!algorithm->applicable || algorithm->applicable(&t->call.shape)) &&
           coll_planner_of(algorithm, &t->call.values);
}

static trial make_trial(const subject *what, int ranks, int root, size_t bytes, int turn) {
    const int a_host[] = {3, ranks > 16 ? 8 : 2, -3, 2}; /* also hosts of different sizes */
    const coll_operation_info *info = &coll_operations[what->operation];
    trial t = {.topo = made_topo(ranks, turn % 2 ? a_host[turn / 8 % 4] : 1, turn % 4 > 1)};
    t.call = (prover_call){.algorithm = what->algorithm,
                           .operation = what->operation,
                           .shape = {.operation = what->operation,
                                     .sides = info->sides,
                                     .bytes = what->operation == COLL_OPERATION_BARRIER ? 1 : bytes,
                                     .root = info->rootless ? COLL_NO_ROOT : root,
                                     .element = info->reduces,
                                     .ordered = info->reduces && turn % 5 == 3,
                                     .profile = coll_profile_builtin()},
                           .values = small_values(what->algorithm, turn),
                           .eager = turn % 3 == 0,
                           .starved = turn % 7 == 2 ? turn % ranks : -1,
                           .slow = turn % 7 == 4 ? turn / 7 % ranks : -1};
    int knowledge = unevenness(what);
    if (knowledge && turn % 4 == 1)
        make_uneven(&t, knowledge, bytes);
    if (turn % 4 > 1 && turn / 4 % 2)
        make_sites(&t, turn / 8);
    return t;
}

static bool is_proved(trial *t, prover_report *report) {
    const claim *claimed = claim_of(t->call.algorithm);
    size_t bytes = t->call.shape.bytes;
    t->call.shape.topo = &t->topo;
    if (!prover_play(&t->call, report))
        return false;
    return !claimed || t->call.counts || t->call.shape.ordered ||
           (report->into_rack <= claimed->into(&t->topo, bytes) &&
            report->out_of_rack <= claimed->out(&t->topo, bytes));
}

static void end_trial(trial *t) {
    free(t->counts);
    coll_topo_free(&t->topo);
}

static void prove(const subject *what, int ranks, int root, size_t bytes, int turn) {
    trial t = make_trial(what, ranks, root, bytes, turn);
    prover_report report = {.problem = ""};
    t.call.shape.topo = &t.topo;
    if (applies(&t) && !is_proved(&t, &report))
        ck_abort_msg("%s %s, %d ranks, root %d, %zu bytes, turn %d%s%s: %zu bytes into a rack, %zu "
                     "out: %s",
                     coll_operations[what->operation].name, what->algorithm->name, ranks, root,
                     bytes, turn, t.call.counts ? ", uneven" : "",
                     t.call.shape.ordered ? ", in order" : "", report.into_rack, report.out_of_rack,
                     report.problem);
    end_trial(&t);
}

/*
 * Tests every root for up to 16 ranks, and five roots for more ranks, of which it skips some
 * numbers.
 */
START_TEST(all_plans_are_right) {
    static const size_t sizes[] = {1, 2, 7, 24, 61, 130};
    const subject *what = &subjects[_i];
    bool all = harness_proves("all"), rootless = coll_operations[what->operation].rootless,
         blocks = coll_operations[what->operation].sides.data == COLL_SIDE_BLOCKS ||
                  coll_operations[what->operation].sides.root_input == COLL_SIDE_BLOCKS;
    int most = all ? 128 : harness_proves("few") ? 16 : 64, turn = 0;
    for (int ranks = 2; ranks <= most; ranks += all || ranks < 16 ? 1 : 1 + ranks / 8) {
        int step = rootless ? ranks : all || ranks <= 16 ? 1 : (ranks + 4) / 5;
        int plays = (ranks <= 16 ? 24 : 12) / (rootless ? 1 : 4);
        for (int root = 0; root < ranks; root += step)
            for (int i = 0; i < plays; i++, turn++)
                prove(what, ranks, root, sizes[turn % (blocks ? 3 : 6)], turn);
    }
}
END_TEST

/* With the default parameters, and one block so long that rings cut it into shorter segments. */
START_TEST(plans_for_one_long_block_are_right) {
    enum { BYTES = 8 << 10, MOST_RANKS = 17 };
    const subject *what = &subjects[_i];
    for (int ranks = 2; unevenness(what) == 1 && ranks <= MOST_RANKS; ranks += 1 + ranks / 6)
        for (int turn = 1; turn < 24; turn += 4) { /* turns with blocks of different sizes */
            trial t = make_trial(what, ranks, 0, BYTES, turn);
            prover_report report = {.problem = ""};
            t.call.shape.topo = &t.topo;
            t.call.values = coll_values_default(what->algorithm);
            if (applies(&t) && !is_proved(&t, &report))
                ck_abort_msg("%s %s, %d ranks, turn %d: %s", coll_operations[what->operation].name,
                             what->algorithm->name, ranks, turn, report.problem);
            end_trial(&t);
        }
}
END_TEST

/* Returns the bytes of the longest message of the rank at POSITION. */
static size_t longest_message(const trial *t, coll_rank_order *line, int position) {
    const coll_planner *planner = coll_planner_of(t->call.algorithm, &t->call.values);
    coll_blocks even;
    line->position = position;
    const coll_plan_args args = coll_sim_plan_args(
        &t->call.shape, &t->call.values, line, line->order[position] == t->call.shape.root, &even);
    const coll_plan_size size = planner->size(&args);
    void *memory = malloc(size.own_bytes + size.making_bytes);
    coll_step *steps = malloc((size_t)size.steps * sizeof *steps);
    if (!memory || !steps)
        abort();
    const coll_plan *plan = planner->plan(&args, size, memory);
    size_t longest = 0;
    for (uint64_t round = 0; round < plan->rounds; round++)
        for (int i = plan->round(plan, round, steps) - 1; i >= 0; i--)
            if (coll_step_is_message(&steps[i]) && steps[i].length > longest)
                longest = steps[i].length;
    free(steps);
    free(memory);
    return longest;
}

/* MPI's counts are ints: also with the longest segments, no message is longer. */
START_TEST(longest_segments_fit_messages) {
    enum { RANKS = 24 };
    const subject *what = &subjects[_i];
    coll_rank_order *line = malloc(sizeof *line + RANKS * sizeof(int));
    ck_assert_ptr_nonnull(line);
    for (int turn = 0; turn < 20; turn++) {
        trial t = make_trial(what, RANKS, 0, (size_t)3 << 30, turn);
        t.call.counts = NULL;
        t.call.shape.bytes = (size_t)3 << 30;
        t.call.shape.topo = &t.topo;
        bool has_segment = false;
        for (int i = 0; what->algorithm->params[i].name; i++)
            if (strcmp(what->algorithm->params[i].name, "segment") == 0) {
                t.call.values.at[i] = what->algorithm->params[i].highest;
                has_segment = true;
            }
        if (has_segment && applies(&t)) {
            coll_order_ranks(&t.call.shape, line->order);
            for (int position = 0; position < RANKS; position++)
                ck_assert_msg(longest_message(&t, line, position) <= INT_MAX, "%s %s, turn %d",
                              coll_operations[what->operation].name, what->algorithm->name, turn);
        }
        end_trial(&t);
    }
    free(line);
}
END_TEST

/*
 * All reproducible algorithms combine by the same tree, whatever the size, the placement and the
 * parameters.
 */
START_TEST(reproducible_plans_have_one_tree) {
    coll_operation operation = (coll_operation)_i;
    for (int ranks = 2; ranks <= 33; ranks += 1 + ranks / 10) {
        int roots = coll_operations[operation].rootless ? 1 : ranks, root = ranks / 2 % roots;
        uint64_t trees = 0;
        for (int turn = 0; turn < 9; turn++)
            for (int i = 0; i < subject_count; i++) {
                if (subjects[i].operation != operation || !subjects[i].algorithm->reproducible)
                    continue;
                trial t = make_trial(&subjects[i], ranks, root, (size_t)turn * 7 + 1, turn);
                prover_report report;
                t.call.shape.topo = &t.topo;
                t.call.shape.ordered = t.call.shape.reproducible = true;
                ck_assert_msg(applies(&t) && prover_play(&t.call, &report),
                              "%s of %d ranks, turn %d: %s", subjects[i].algorithm->name, ranks,
                              turn, report.problem);
                trees = trees ? trees : report.trees;
                if (!t.counts)
                    ck_assert_msg(report.trees && report.trees == trees,
                                  "%s of %d ranks, turn %d: another tree",
                                  subjects[i].algorithm->name, ranks, turn);
                end_trial(&t);
            }
        ck_assert_int_eq(trees != 0, coll_operations[operation].reduces);
    }
}
END_TEST

/*
 * Returns whether a random change of plan WHICH, drawn from G, is caught. Sets *DONE if there was a
 * change.
 */
static bool is_caught(int which, generator *g, bool *done, char *text, size_t size) {
    const subject *what = &subjects[which];
    int ranks = 2 + below(g, 11), turn = below(g, 840);
    size_t bytes = (size_t)between(g, 1, 12);
    trial t = make_trial(what, ranks, below(g, ranks), bytes, turn);
    mutant = (mutation){.kind = (mutation_kind)below(g, NO_WINDOW),
                        .rank = below(g, ranks),
                        .ranks = ranks,
                        .step = below(g, 8),
                        .round = (uint64_t)below(g, 4 * (int)bytes)};
    t.call.alter = mutant_alter;
    t.call.context = &mutant;
    t.call.shape.topo = &t.topo;
    bool caught = false, good = applies(&t);
    for (t.call.starved = -1; good && t.call.starved < ranks && !caught; t.call.starved++)
        for (t.call.slow = -1; good && t.call.slow < ranks && !caught; t.call.slow++)
            for (int eager = 0; good && eager < 2 && !caught; eager++) {
                prover_report report;
                t.call.eager = eager;
                caught = !is_proved(&t, &report);
                good = mutant.done || caught; /* otherwise the plan has no such step */
            }
    *done = good && mutant.done;
    snprintf(text, size,
             "%s %s: mutation %d of rank %d, round %llu step %d, %d ranks, %zu bytes, turn %d",
             coll_operations[what->operation].name, what->algorithm->name, (int)mutant.kind,
             mutant.rank, (unsigned long long)mutant.round, mutant.step, ranks, bytes, turn);
    end_trial(&t);
    return caught;
}

START_TEST(wrong_plans_are_caught) {
    mutant_expect_caught(is_caught, _i, harness_proves("few") ? 20 : 100);
}
END_TEST

int main(void) {
    mallopt(M_TRIM_THRESHOLD,
            1 << 28); /* keeps freed memory for the next of thousands of simulations */
    mallopt(M_MMAP_THRESHOLD, 1 << 28);
    mallopt(M_TOP_PAD, 1 << 26);
    find_subjects();
    Suite *suite = suite_create("collective_plans");
    TCase *proofs = tcase_create("proofs");
    tcase_set_timeout(proofs, 0); /* no time limit, because PROVE=all takes minutes */
    tcase_add_loop_test(proofs, all_plans_are_right, 0, subject_count);
    tcase_add_loop_test(proofs, plans_for_one_long_block_are_right, 0, subject_count);
    tcase_add_loop_test(proofs, longest_segments_fit_messages, 0, subject_count);
    tcase_add_loop_test(proofs, wrong_plans_are_caught, 0, subject_count);
    tcase_add_loop_test(proofs, reproducible_plans_have_one_tree, COLL_OPERATION_ALLREDUCE,
                        COLL_OPERATIONS);
    suite_add_tcase(suite, proofs);
    return harness_unit(suite);
}
