/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proves, without MPI, all broadcast and gather algorithms that are plans, and tests that the
 * prover detects wrong plans.
 */
#include "lib/algorithm/spec.h"
#include "lib/bcast/bcast.h"
#include "lib/gather/gather.h"
#include "lib/gather/straight.h"
#include "lib/pattern/binomial.h"
#include "tests/support/generator.h"
#include "tests/support/harness.h"
#include "tests/support/mutant.h"
#include "tests/support/prover.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns a number of copies of all the data. */
typedef size_t copies(const coll_topo *topo);

static size_t one(const coll_topo *topo) {
    (void)topo;
    return 1;
}

static size_t two(const coll_topo *topo) {
    (void)topo;
    return 2;
}

/* One copy for each level of a tree. */
static size_t by_level(const coll_topo *topo) {
    return (size_t)coll_tree_depth(topo->ranks);
}

/* One copy for each rank of a rack. */
static size_t by_rank(const coll_topo *topo) {
    size_t most = 0, count = 0;
    for (int rank = 0; rank < topo->ranks; rank++) {
        bool same = rank > 0 && topo->places[rank].rack == topo->places[rank - 1].rack;
        count = same ? count + 1 : 1;
        most = count > most ? count : most;
    }
    return most;
}

/* At least one copy for each rank, so there is no bound. */
static size_t unbounded(const coll_topo *topo) {
    return (size_t)topo->ranks - 1;
}

/* The messages of which at most a window are incomplete. */
typedef enum bounded {
    RANK,         /* messages from a rank */
    RANK_TO_RANK, /* messages from one rank to another */
    EAGER         /* also if a send is complete before the message arrives */
} bounded;

/*
 * The claim of an algorithm's head comment: copies into and out of a rack, and what the window
 * bounds. Segment and window are the parameters at these places. An algorithm without such
 * parameters is proved with values that its plans do not choose.
 */
enum { NONE = -1 };
typedef struct claim {
    const coll_algorithm *algorithm;
    int segment, window;
    copies *into, *out;
    bounded bounded;
} claim;
static const claim claims[] = {
    {&coll_bcast_linear, NONE, NONE, by_rank, unbounded, RANK},
    {&coll_bcast_binomial, NONE, NONE, by_level, by_level, RANK},
    {&coll_bcast_scatter_allgather, NONE, NONE, two, two, RANK},
    {&coll_bcast_chain, 0, 1, one, one, EAGER},
    {&coll_bcast_circulant, 0, 1, by_rank, unbounded, RANK},
    {&coll_bcast_two_tree, 0, 1, one, two, RANK_TO_RANK},
    {&coll_bcast_multi_leader, NONE, NONE, by_rank, unbounded, RANK_TO_RANK},
    {&coll_bcast_usual_line, NONE, NONE, by_rank, by_rank, RANK},
    {&coll_bcast_usual_binary, NONE, NONE, by_rank, unbounded, RANK_TO_RANK},
    {&coll_bcast_usual_binomial, NONE, NONE, by_rank, unbounded, RANK_TO_RANK},
    {&coll_bcast_usual_quadrinomial, NONE, NONE, by_rank, unbounded, RANK_TO_RANK},
    {&coll_bcast_usual_split_binary, NONE, NONE, by_rank, unbounded, RANK_TO_RANK},
};
enum { CLAIMS = sizeof claims / sizeof *claims };

/* Returns a call in segments of one byte. */
static prover_call call_of(const claim *what, const coll_topo *topo, int root, size_t bytes,
                           int window) {
    prover_call call = {
        .algorithm = what->algorithm,
        .operation = COLL_OPERATION_BCAST,
        .shape = {.bytes = bytes, .root = root, .topo = topo, .profile = coll_profile_builtin()},
        .values = coll_values_default(what->algorithm),
        .starved = -1,
        .slow = -1};
    if (what->window == NONE) {
        call.segment = 1;
        call.window = window;
        if (what->algorithm->params[0].name)
            call.values.at[0] = (uint64_t)window + 1; /* a radix */
        return call;
    }
    call.values.at[what->segment] = 1;
    call.values.at[what->window] = (uint64_t)window;
    return call;
}

static bool keeps_window(const claim *what, const prover_call *call, const prover_report *report) {
    uint64_t window = what->window == NONE ? (uint64_t)call->window : call->values.at[what->window];
    if (call->eager && what->bounded != EAGER)
        return true;
    return (uint64_t)(what->bounded == RANK ? report->sending : report->under_way) <= window;
}

/* Returns whether the simulation of CALL confirms the claims of its algorithm. */
static bool is_proved(const claim *what, const prover_call *call, prover_report *report) {
    size_t bytes = call->shape.bytes;
    const coll_topo *topo = call->shape.topo;
    return prover_play(call, report) && report->into_rack <= what->into(topo) * bytes &&
           report->out_of_rack <= what->out(topo) * bytes && keeps_window(what, call, report);
}

/* Messages arrive as soon as possible, or late at one rank, or late from one rank. */
typedef enum lateness { NOBODY, STARVED, SLOW, LATENESSES } lateness;

static void prove(const claim *what, const coll_topo *topo, int root, size_t bytes, int window,
                  lateness how, int late) {
    prover_call call = call_of(what, topo, root, bytes, window);
    prover_report report;
    call.starved = how == STARVED ? late : -1;
    call.slow = how == SLOW ? late : -1;
    call.eager = late % 3 == 0;
    if (!is_proved(what, &call,
                   &report)) /* even an assertion that holds would cost a system call */
        ck_abort_msg("%s, %d ranks, root %d, %d racks, %zu bytes, window %d, rank %d %s%s: "
                     "%zu bytes into a rack, %zu out, %d and %d under way: %s",
                     what->algorithm->name, topo->ranks, root, topo->racks, bytes, window, late,
                     (const char *[]){"", "starves", "is slow"}[how], call.eager ? ", eager" : "",
                     report.into_rack, report.out_of_rack, report.under_way, report.sending,
                     report.problem);
}

static void prove_at(const claim *what, int ranks, int root) {
    static const int windows[] = {1, 4, 1024};
    static const size_t sizes[] = {1, 2, 7, 24, 61};
    /* Fewer cases save time: every size and every window is tested, but not each with each. */
    bool few = harness_proves("few") || (ranks > 16 && !harness_proves("all"));
    int count = ranks <= 16 ? 5 : 4;
    for (int a_host = 1; a_host <= 3; a_host += 2)
        for (int racks = 0; racks < 2; racks++) {
            coll_topo topo = made_topo(ranks, a_host, racks);
            for (int size = 0; size < count; size++)
                for (int w = few ? (size + a_host + racks + root) % 3 : 0; w < 3; w += few ? 3 : 1)
                    prove(what, &topo, root, sizes[size], windows[w],
                          (lateness)((size + w + root) % LATENESSES), (root + 1 + size) % ranks);
            free(topo.places);
        }
}

static int mutations(void) {
    return harness_proves("few") ? 20 : 300;
}

/* Tests every root for up to 16 ranks, and five roots for more ranks. */
START_TEST(all_plans_are_right) {
    bool all = harness_proves("all");
    int most = all ? 128 : harness_proves("few") ? 20 : 64;
    for (int ranks = 2; ranks <= most; ranks++)
        for (int root = 0; root < ranks; root += all || ranks <= 16 ? 1 : (ranks + 4) / 5)
            prove_at(&claims[_i], ranks, root);
}
END_TEST

/*
 * Returns whether a random mutation of the plans of ALGORITHM, drawn from G, is caught. Sets *DONE
 * if there was one.
 */
static bool is_caught(int which, generator *g, bool *done, char *text, size_t size) {
    const claim *what = &claims[which];
    int ranks = 2 + below(g, 11);
    coll_topo topo = made_topo(ranks, 1 + below(g, 3), true);
    size_t bytes = (size_t)between(g, 1, 12);
    mutant = (mutation){.kind = (mutation_kind)below(g, MUTATIONS),
                        .rank = below(g, ranks),
                        .ranks = ranks,
                        .step = below(g, 8),
                        .round = (uint64_t)below(g, (int)bytes)};
    int root = below(g, ranks);
    prover_call call = call_of(what, &topo, root, bytes, between(g, 1, 4));
    call.alter = mutant_alter;
    call.context = &mutant;
    bool caught = false;
    for (call.starved = -1; call.starved < ranks && !caught; call.starved++)
        for (call.slow = -1; call.slow < ranks && !caught; call.slow++)
            for (int eager = 0; eager < 2 && !caught; eager++) {
                prover_report report;
                call.eager = eager;
                caught = !is_proved(what, &call, &report);
            }
    /*
     * A window counts rounds. If a round is idle, or the rank is paced, removing the window adds no
     * incomplete messages.
     */
    *done = mutant.done && (caught || !mutant.idle);
    snprintf(text, size, "%s: mutation %d of rank %d, round %llu step %d, %d ranks, %zu bytes",
             what->algorithm->name, (int)mutant.kind, mutant.rank, (unsigned long long)mutant.round,
             mutant.step, ranks, bytes);
    free(topo.places);
    return caught;
}

START_TEST(wrong_plans_are_caught) {
    mutant_expect_caught(is_caught, _i, mutations());
}
END_TEST

/* --- Gathers --- */

/* The values of a plan that sends blocks directly to the root, which determine all of it. */
enum { STRAIGHT_SEGMENT, STRAIGHT_WINDOW, TOGETHER, SENDERS, SENDS, STRAIGHT_VALUES };

static coll_straight straight_of(const coll_plan_args *part) {
    const uint64_t *at = part->values->at;
    return (coll_straight){.segment = at[STRAIGHT_SEGMENT],
                           .window = (int)at[STRAIGHT_WINDOW],
                           .together = (int)at[TOGETHER],
                           .senders = (int)at[SENDERS],
                           .sends = (int)at[SENDS]};
}

static coll_plan_size straight_size(const coll_plan_args *part) {
    coll_straight how = straight_of(part);
    return coll_straight_size(part, &how);
}

static coll_plan *straight_plan(const coll_plan_args *part, coll_plan_size size, void *memory) {
    coll_straight how = straight_of(part);
    return coll_straight_plan(part, &how, size, memory);
}

static const coll_planner straight_planner = {.size = straight_size, .plan = straight_plan};
static const coll_algorithm straight = {.name = "straight", .planner = &straight_planner};

enum { ALL_SENDERS = 1024, CASES = 4 };

/*
 * The claim of a gather's head comment: whether blocks pass other racks than their own and the
 * root's; how many ranks send to one at the same time; and how many messages from one rank to
 * another are incomplete: given by a value, or a number.
 */
typedef struct gather_claim {
    const coll_algorithm *algorithm;
    bool uneven, relays;
    int senders_by, sends_by, sends; /* -1 if there is no such bound */
    coll_values cases[CASES];
} gather_claim;
static const gather_claim gather_claims[] = {
    {.algorithm = &coll_gather_linear, .senders_by = -1, .sends_by = -1, .sends = 4},
    {.algorithm = &coll_gather_window,
     .sends_by = -1,
     .sends = COLL_STEP_AFTER,
     .cases = {{{1}}, {{3}}, {{7}}, {{ALL_SENDERS}}}},
    {.algorithm = &straight,
     .senders_by = SENDERS,
     .sends_by = SENDS,
     .cases = {{{1, 1, 1, 1, 1}}, {{2, 3, 4, 2, 2}}, {{1, 16, 1, 4, 2}}, {{5, 4, 2, 1, 1}}}},
    {.algorithm = &straight,
     .uneven = true,
     .senders_by = SENDERS,
     .sends_by = SENDS,
     .cases = {{{1, 1, 1, ALL_SENDERS, 1}},
               {{2, 3, 4, ALL_SENDERS, 2}},
               {{1, 16, 1, ALL_SENDERS, 4}},
               {{9, 4, 3, 2, 1}}}},
    {.algorithm = &coll_gather_binomial,
     .relays = true,
     .senders_by = -1,
     .sends_by = 1,
     .cases = {{{1, 1}}, {{1, 4}}, {{3, 2}}, {{5, 1024}}}},
};
enum { GATHERS = sizeof gather_claims / sizeof *gather_claims };

/* The bytes over the uplinks of a gather. */
typedef struct burden {
    size_t into_root, out_of_one, all;
} burden;

static burden burden_of(const prover_call *call) {
    const coll_topo *topo = call->shape.topo;
    burden sum = {0};
    for (int rack = 0; rack < topo->racks; rack++) {
        size_t bytes = 0;
        for (int rank = 0; rank < topo->ranks; rank++)
            if (topo->places[rank].rack == rack)
                bytes += call->counts[rank];
        sum.all += bytes;
        if (rack == topo->places[call->shape.root].rack)
            continue;
        sum.into_root += bytes;
        if (bytes > sum.out_of_one)
            sum.out_of_one = bytes;
    }
    return sum;
}

static bool is_gather_proved(const gather_claim *what, const prover_call *call,
                             prover_report *report) {
    burden sum = burden_of(call);
    const uint64_t *at = call->values.at;
    uint64_t sends = what->sends_by < 0 ? (uint64_t)what->sends : at[what->sends_by];
    if (!prover_play(call, report) ||
        report->into_rack > (what->relays ? sum.all : sum.into_root) ||
        report->out_of_rack > (what->relays ? sum.all : sum.out_of_one))
        return false;
    bool in_bounds = (uint64_t)report->under_way <= sends &&
                     (what->senders_by < 0 || (uint64_t)report->senders <= at[what->senders_by]);
    return call->eager || in_bounds;
}

/*
 * Sets the amounts of RANKS: all BYTES if EVEN, otherwise about BYTES, some of them 0 and one far
 * larger.
 */
static void make_counts(size_t counts[], int ranks, size_t bytes, bool even) {
    for (int rank = 0; rank < ranks; rank++)
        counts[rank] = even                ? bytes
                       : rank == ranks / 2 ? 4 * bytes
                                           : (size_t)(rank * 5 + 3) % 7 * bytes / 4;
}

/* Returns a gather to ROOT, and sets COUNTS to the ranks' amounts. */
static prover_call gather_call(const gather_claim *what, const coll_topo *topo, int root,
                               size_t counts[], size_t bytes) {
    make_counts(counts, topo->ranks, bytes, !what->uneven);
    return (prover_call){.algorithm = what->algorithm,
                         .operation = COLL_OPERATION_GATHER,
                         .shape = {.bytes = what->uneven ? COLL_BYTES_UNKNOWN : bytes,
                                   .root = root,
                                   .topo = topo,
                                   .profile = coll_profile_builtin()},
                         .counts = counts,
                         .slow = -1};
}

static void prove_gather(const gather_claim *what, const coll_topo *topo, int root, int turn) {
    static const size_t lengths[] = {1, 2, 3, 8, 11};
    size_t counts[64], bytes = lengths[turn % 5];
    prover_call call = gather_call(what, topo, root, counts, bytes);
    call.values = what->cases[turn % CASES];
    call.eager = turn % 3 == 2;
    call.starved = turn % 7 < 3 ? root : turn % 7 < 5 ? (root + turn) % topo->ranks : -1;
    prover_report report;
    if (!is_gather_proved(what, &call, &report))
        ck_abort_msg("%s, %d ranks, root %d, %d racks, %zu bytes, values %d, rank %d starves: "
                     "%zu bytes into a rack, %zu out, %d senders, %d messages under way: %s",
                     what->algorithm->name, topo->ranks, root, topo->racks, bytes, turn % CASES,
                     call.starved, report.into_rack, report.out_of_rack, report.senders,
                     report.under_way, report.problem);
}

START_TEST(all_gathers_are_right) {
    int turn = 0;
    for (int ranks = 2; ranks <= (harness_proves("few") ? 20 : 64); ranks++)
        for (int root = 0; root < ranks; root += ranks <= 16 ? 1 : (ranks + 4) / 5)
            for (int shape = 0; shape < 4; shape++) {
                coll_topo topo = made_topo(ranks, shape % 2 ? 3 : 1, shape / 2);
                for (int i = 0; i < 4 * CASES; i++)
                    prove_gather(&gather_claims[_i], &topo, root, turn++);
                turn++; /* tests every value with every shape */
                free(topo.places);
            }
}
END_TEST

/* Returns whether a random change of a random gather is caught. Sets *DONE if there was one. */
static bool is_gather_caught(int which, generator *g, bool *done, char *text, size_t size) {
    const gather_claim *what = &gather_claims[which];
    int ranks = 2 + below(g, 11);
    size_t counts[64], bytes = (size_t)between(g, 1, 12);
    coll_topo topo = made_topo(ranks, 1 + below(g, 3), true);
    prover_call call = gather_call(what, &topo, below(g, ranks), counts, bytes);
    mutant = (mutation){.kind = (mutation_kind)below(g, NO_WINDOW),
                        .rank = below(g, ranks),
                        .ranks = ranks,
                        .step = below(g, 8),
                        .round = (uint64_t)below(g, 12)};
    call.values = what->cases[below(g, CASES)];
    call.alter = mutant_alter;
    call.context = &mutant;
    bool caught = false;
    for (call.starved = -1; call.starved < ranks && !caught; call.starved++)
        for (int eager = 0; eager < 2 && !caught; eager++) {
            prover_report report;
            call.eager = eager;
            caught = !is_gather_proved(what, &call, &report);
        }
    *done = mutant.done;
    snprintf(text, size,
             "%s: mutation %d of rank %d, round %llu step %d, %d ranks, root %d, %zu bytes, "
             "values %llu %llu %llu %llu %llu",
             what->algorithm->name, (int)mutant.kind, mutant.rank, (unsigned long long)mutant.round,
             mutant.step, ranks, call.shape.root, bytes, (unsigned long long)call.values.at[0],
             (unsigned long long)call.values.at[1], (unsigned long long)call.values.at[2],
             (unsigned long long)call.values.at[3], (unsigned long long)call.values.at[4]);
    free(topo.places);
    return caught;
}

START_TEST(wrong_gathers_are_caught) {
    mutant_expect_caught(is_gather_caught, _i, mutations());
}
END_TEST

int main(void) {
    mallopt(M_TRIM_THRESHOLD,
            1 << 28); /* keeps freed memory for the next of thousands of simulations */
    mallopt(M_MMAP_THRESHOLD, 1 << 28);
    mallopt(M_TOP_PAD, 1 << 26);
    Suite *suite = suite_create("plans");
    TCase *proofs = tcase_create("proofs"), *mutations = tcase_create("mutations");
    tcase_set_timeout(proofs, 0); /* no time limit, because PROVE=all takes minutes */
    tcase_add_loop_test(proofs, all_plans_are_right, 0, CLAIMS);
    tcase_set_timeout(mutations, 600);
    tcase_add_loop_test(mutations, wrong_plans_are_caught, 0, CLAIMS);
    TCase *gathers = tcase_create("gathers");
    tcase_set_timeout(gathers, 600);
    tcase_add_loop_test(gathers, all_gathers_are_right, 0, GATHERS);
    tcase_add_loop_test(gathers, wrong_gathers_are_caught, 0, GATHERS);
    suite_add_tcase(suite, gathers);
    suite_add_tcase(suite, proofs);
    suite_add_tcase(suite, mutations);
    return harness_unit(suite);
}
