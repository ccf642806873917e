/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the predicted times of plans with closed formulas, and tests the simulator: ends, limits
 * of events, long calls.
 */
#include "config.h"

#include "hlot/sites.h"
#include "lib/algorithm/operations.h"
#include "lib/algorithm/spec.h"
#include "lib/allgather/allgather.h"
#include "lib/allreduce/allreduce.h"
#include "lib/alltoall/alltoall.h"
#include "lib/bcast/bcast.h"
#include "lib/cost/networks.h"
#include "lib/gather/gather.h"
#include "lib/pattern/binomial.h"
#include "lib/reduce/reduce.h"
#include "lib/reduce_scatter/reduce_scatter.h"
#include "lib/sim/estimate.h"
#include "lib/sim/link_load.h"
#include "lib/sim/sim.h"
#include "lib/tuning/ompi_decision_table.h"
#include "lib/tuning/predict.h"
#include "lib/tuning/select.h"
#include "tests/support/harness.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* Zhang and Qiu, eq. 3: a hop of c bytes takes a + c B, and the next one comes that much later. */
static const double a = 10e-6, B = 8.5e-9;
enum { SEGMENT = 32 << 10, RANKS_MOST = 1024, BUDGET = 30000000 };

static coll_cost make_cost(void) {
    coll_cost cost = {.latency = a, .overhead = a / 2, .per_byte = B};
    for (int i = COLL_SEND_GAP; i <= COLL_RECEIVE_GAP; i++)
        if (i != COLL_TRANSFER)
            cost.curve[i] =
                (coll_curve){.knots = 2, .bytes = {0, SEGMENT}, .seconds = {a, a + SEGMENT * B}};
    return cost;
}

/*
 * A call on RANKS hosts with one rank each, in racks of equal size. All hosts are equally far
 * apart.
 */
typedef struct scene {
    coll_place places[RANKS_MOST];
    coll_topo topo;
    coll_profile profile;
    coll_shape shape;
    coll_values values;
} scene;

static void set_scene(scene *s, const coll_algorithm *algorithm, int ranks, int a_rack,
                      size_t bytes) {
    *s = (scene){.topo = {.ranks = ranks,
                          .sites = 1,
                          .racks = (ranks + a_rack - 1) / a_rack,
                          .nodes = ranks,
                          .most_ranks_per_node = 1,
                          .places = s->places},
                 .shape = {.operation = COLL_OPERATION_BCAST,
                           .sides = {.data = COLL_SIDE_ONE, .root_data = COLL_SIDE_ONE},
                           .bytes = bytes,
                           .topo = &s->topo,
                           .profile = &s->profile},
                 .values = coll_values_default(algorithm)};
    for (int rank = 0; rank < ranks; rank++)
        s->places[rank] = (coll_place){.rack = rank / a_rack, .node = rank};
    for (int level = 0; level < COLL_LEVELS; level++)
        s->profile.level[level] = make_cost();
}

static int64_t simulate(const scene *s, const coll_algorithm *algorithm, int budget) {
    const coll_sim_call call = {.algorithm = algorithm,
                                .planner = algorithm->planner,
                                .shape = &s->shape,
                                .values = &s->values,
                                .budget = budget};
    int64_t time;
    ck_assert_int_eq(coll_simulate(&call, &time), MPI_SUCCESS);
    return time;
}

static double seconds_of(const scene *s, const coll_algorithm *algorithm) {
    const int64_t time = simulate(s, algorithm, BUDGET);
    ck_assert_int_ge(time, 0);
    return (double)time * 1e-9;
}

static const coll_algorithm *const chain = &coll_bcast_chain;
static const coll_algorithm *const two_tree = &coll_bcast_two_tree;

START_TEST(a_chain_takes_as_long_as_zhang_says) {
    static const int ranks[] = {2, 3, 16, 60, 150}, segments[] = {1, 2, 7, 32, 1000};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            int p = ranks[i], n = segments[j];
            scene s;
            set_scene(&s, chain, p, p, (size_t)n * SEGMENT);
            s.values.at[0] = SEGMENT;
            double expected = (p + n - 2) * (a + SEGMENT * B);
            ck_assert_double_eq_tol(seconds_of(&s, chain) / expected, 1, 0.02);
        }
}
END_TEST

/* The time that the literature gives for an algorithm, in hops of a message. */
typedef struct formula {
    const coll_algorithm *algorithm;
    coll_operation operation;
    int segments;
    double (*hops)(int ranks, int segments);
} formula;

static double levels(int ranks, int segments) {
    return coll_tree_depth(ranks) * segments;
}

static double rounds(int ranks, int segments) {
    return segments - 1 + coll_tree_depth(ranks);
}

static double one_by_one(int ranks, int segments) {
    return (ranks - 1) * segments;
}

/* Tam and Wang's eq. 2 and 8, with a busy link of the root, and Traeff's rounds. */
static const formula formulas[] = {{&coll_bcast_binomial, COLL_OPERATION_BCAST, 1, levels},
                                   {&coll_bcast_circulant, COLL_OPERATION_BCAST, 1, rounds},
                                   {&coll_bcast_circulant, COLL_OPERATION_BCAST, 4, rounds},
                                   {&coll_bcast_linear, COLL_OPERATION_BCAST, 1, one_by_one},
                                   {&coll_gather_binomial, COLL_OPERATION_GATHER, 1, one_by_one},
                                   {&coll_gather_linear, COLL_OPERATION_GATHER, 1, one_by_one},
                                   {&coll_gather_window, COLL_OPERATION_GATHER, 1, one_by_one}};

START_TEST(others_take_as_many_messages_as_is_said) {
    static const int ranks[] = {2, 4, 16, 25, 128};
    const formula *f = &formulas[_i];
    for (int i = 0; i < 5; i++) {
        scene s;
        set_scene(&s, f->algorithm, ranks[i], ranks[i], (size_t)f->segments * SEGMENT);
        s.shape.operation = f->operation;
        if (f->operation == COLL_OPERATION_GATHER)
            s.shape.sides.root_data = COLL_SIDE_BLOCKS;
        if (f->hops == rounds)
            s.values.at[0] = SEGMENT;
        double expected = f->hops(ranks[i], f->segments) * (a + SEGMENT * B);
        ck_assert_double_eq_tol(seconds_of(&s, f->algorithm) / expected, 1, 0.02);
    }
}
END_TEST

/*
 * Plans of the tests: the first half of the ranks sends to the other half, or all ranks send to
 * rank 0.
 */
static int pair_round(const coll_plan *plan, uint64_t round, coll_step steps[]) {
    (void)round;
    const int *peer = (const int *)(plan + 1);
    steps[0] =
        *peer > 0 ? coll_step_send(*peer, 0, SEGMENT) : coll_step_receive(-*peer, 0, SEGMENT);
    return 1;
}

static coll_plan_size pair_size(const coll_plan_args *part) {
    return (coll_plan_size){.window = 1,
                            .steps = part->shape->topo->ranks,
                            .segments = 1,
                            .segment = SEGMENT,
                            .own_bytes = sizeof(coll_plan) + sizeof(int)};
}

static coll_plan *pair_plan(const coll_plan_args *part, coll_plan_size size, void *memory) {
    coll_plan *plan = memory;
    int ranks = part->shape->topo->ranks, rank = part->line->order[part->line->position];
    *plan = (coll_plan){.size = size, .rounds = 1, .round = pair_round};
    *(int *)(plan + 1) = rank < ranks / 2 ? rank + ranks / 2 : -(rank - ranks / 2);
    return plan;
}

static const coll_planner pair_planner = {.size = pair_size, .plan = pair_plan};
static const coll_algorithm pairs = {.name = "pairs", .planner = &pair_planner};

static int flood_round(const coll_plan *plan, uint64_t round, coll_step steps[]) {
    (void)round;
    int sends = *(const int *)(plan + 1);
    if (sends)
        steps[0] = coll_step_send(0, 0, SEGMENT);
    for (int i = 1; !sends && i < plan->size.steps; i++)
        steps[i - 1] = coll_step_receive(i, 0, SEGMENT);
    return sends ? 1 : plan->size.steps - 1;
}

static coll_plan *flood_plan(const coll_plan_args *part, coll_plan_size size, void *memory) {
    coll_plan *plan = memory;
    *plan = (coll_plan){.size = size, .rounds = 1, .round = flood_round};
    *(int *)(plan + 1) = part->line->position > 0;
    return plan;
}

static const coll_planner flood_planner = {.size = pair_size, .plan = flood_plan};
static const coll_algorithm flood = {.name = "flood", .planner = &flood_planner};

/*
 * An uplink is as fast as a host's link if the network of two racks moves two streams. Each further
 * message adds its own transfer time, and that of some 100 bytes of headers.
 */
START_TEST(two_messages_on_an_uplink_take_twice_as_long) {
    double taken[5];
    for (int senders = 1; senders <= 4; senders++) {
        scene s;
        set_scene(&s, &pairs, 2 * senders, senders, SEGMENT);
        for (int level = 0; level < COLL_LEVELS; level++)
            s.profile.level[level].together = 2 / B;
        taken[senders] = seconds_of(&s, &pairs);
    }
    for (int senders = 2; senders <= 4; senders++)
        ck_assert_double_eq_tol((taken[senders] - taken[1]) / ((senders - 1) * SEGMENT * B),
                                1 + 100.0 / SEGMENT, 0.001);
}
END_TEST

START_TEST(messages_on_links_of_their_own_dont_wait) {
    scene two, eight;
    set_scene(&two, &pairs, 2, 1, SEGMENT);
    set_scene(&eight, &pairs, 8, 4, SEGMENT);
    ck_assert_double_eq(seconds_of(&two, &pairs), seconds_of(&eight, &pairs));
}
END_TEST

/* Returns by how many seconds a buffer of BUFFER bytes delays messages of BYTES from nine ranks. */
static double delay_by_buffer(size_t bytes, double buffer) {
    enum { RANKS = 10 };
    double taken[2];
    for (int limited = 0; limited < 2; limited++) {
        scene s;
        set_scene(&s, &flood, RANKS, RANKS, bytes);
        for (int level = 0; level < COLL_LEVELS; level++)
            s.profile.level[level].buffer = limited ? buffer : 0;
        taken[limited] = seconds_of(&s, &flood);
    }
    return taken[1] - taken[0];
}

START_TEST(a_buffer_that_overflows_costs_one_timeout) {
    enum { FIRST_WINDOW = 10 * 1448, SHORT = 8 << 10 };
    const double timeout = 0.2, exact = 1e-6;
    ck_assert_double_eq_tol(delay_by_buffer(SEGMENT, 10 * FIRST_WINDOW), 0, exact);
    ck_assert_double_eq_tol(delay_by_buffer(SEGMENT, 5 * FIRST_WINDOW), 0, exact);
    ck_assert_double_eq_tol(delay_by_buffer(SEGMENT, 3 * FIRST_WINDOW), timeout, exact);
    ck_assert_double_eq_tol(delay_by_buffer(SHORT, 10 * SHORT), 0, exact);
    ck_assert_double_eq_tol(delay_by_buffer(SHORT, 5 * SHORT), timeout, exact);
}
END_TEST

START_TEST(long_calls_take_as_long_as_they_do_in_full) {
    static const int ranks[] = {2, 5, 16, 64, 150};
    const coll_algorithm *algorithm = _i ? two_tree : chain;
    for (int i = 0; i < (harness_proves("few") ? 3 : 5); i++)
        for (int a_rack = 5; a_rack <= 150; a_rack += 145) {
            scene s;
            set_scene(&s, algorithm, ranks[i], a_rack, (20 << 20) + 12345);
            double estimate = coll_estimate(algorithm, &s.shape, &s.values);
            ck_assert_double_eq_tol(estimate / seconds_of(&s, algorithm), 1, 0.15);
        }
}
END_TEST

/* Long messages in opposite directions take turns. */
START_TEST(long_exchanges_take_twice_as_long) {
    static const coll_algorithm *const exchanges[] = {&coll_allreduce_halving,
                                                      &coll_allreduce_circulant};
    enum { BYTES = 1 << 20, EXCHANGED = 2 }; /* half of the bytes are exchanged twice */
    const coll_algorithm *algorithm = exchanges[_i];
    scene s;
    set_scene(&s, algorithm, 2, 2, BYTES);
    s.shape.root = COLL_NO_ROOT;
    s.shape.element = 4;
    const double once = EXCHANGED * (a + BYTES / EXCHANGED * B);
    ck_assert_double_eq_tol(seconds_of(&s, algorithm) / once, 1,
                            0.2); /* short chunks take no turns */
    s.values.at[COLL_SEGMENT] = BYTES;
    ck_assert_double_eq_tol(seconds_of(&s, algorithm) / (2 * once), 1, 0.02);
    ck_assert_double_eq_tol(coll_estimate(algorithm, &s.shape, &s.values) / (2 * once), 1, 0.02);
}
END_TEST

static const coll_sides blocks = {.data = COLL_SIDE_BLOCKS,
                                  .root_data = COLL_SIDE_BLOCKS,
                                  .input = COLL_SIDE_BLOCKS,
                                  .root_input = COLL_SIDE_BLOCKS};

/*
 * If only some of many ranks are simulated, the predicted time still includes what one rank does
 * with all others.
 */
START_TEST(exchanges_among_all_take_as_long_as_they_do_in_full) {
    static const coll_algorithm *const exchanges[] = {&coll_alltoall_pairwise,
                                                      &coll_alltoall_linear, &coll_alltoall_bruck,
                                                      &coll_allreduce_circulant};
    static const size_t block[] = {100, 5000, 100000}, all[] = {10000, 500000, 5000000};
    const coll_algorithm *algorithm = exchanges[_i];
    bool sums = algorithm == &coll_allreduce_circulant;
    for (int ranks = 50; ranks <= (harness_proves("few") ? 50 : 150); ranks += 50)
        for (int size = 0; size < 3; size++) {
            scene s;
            set_scene(&s, algorithm, ranks, 25, sums ? all[size] : block[size]);
            s.shape.root = COLL_NO_ROOT;
            s.shape.element = sums;
            if (!sums)
                s.shape.sides = blocks;
            if (algorithm->applicable && !algorithm->applicable(&s.shape))
                continue;
            double estimate = coll_estimate(algorithm, &s.shape, &s.values);
            ck_assert_double_eq_tol(estimate / seconds_of(&s, algorithm), 1, 0.4);
        }
}
END_TEST

/*
 * The same holds if a segment is a share of the whole, so that no shorter call has the same
 * segments.
 */
START_TEST(long_calls_in_shares_take_as_long_as_they_do_in_full) {
    for (int a_rack = 4; a_rack <= 7; a_rack++)
        for (size_t bytes = 1 << 20; bytes <= 16 << 20; bytes *= 4) {
            scene s;
            set_scene(&s, &coll_allreduce_racks, 3 * a_rack, a_rack, bytes);
            s.shape.root = COLL_NO_ROOT;
            s.shape.element = 1;
            s.profile.level[COLL_LEVEL_SITE].together = 3 / B;
            double estimate = coll_estimate(&coll_allreduce_racks, &s.shape, &s.values);
            ck_assert_double_eq_tol(estimate / seconds_of(&s, &coll_allreduce_racks), 1, 0.1);
        }
}
END_TEST

/* The window of this plan has more rounds than a rack has ranks. The plan of fewer ranks, which are
 * simulated, has a smaller window. */
START_TEST(rounds_of_large_racks_take_as_long_as_they_do_in_full) {
    const coll_algorithm *algorithm = &coll_allreduce_racks;
    scene s;
    set_scene(&s, algorithm, 4 * 38, 38, 4 << 20);
    s.shape.root = COLL_NO_ROOT;
    s.shape.element = 1;
    s.profile.level[COLL_LEVEL_RACK].latency = s.profile.level[COLL_LEVEL_SITE].latency = 9 * a;
    const double estimate = coll_estimate(algorithm, &s.shape, &s.values);
    ck_assert_double_eq_tol(estimate / seconds_of(&s, algorithm), 1, 0.2);
}
END_TEST

/*
 * Messages in an order of ranks that changes between racks make uplinks busy, also if only some of
 * the ranks are simulated.
 */
START_TEST(uplinks_are_as_crowded_as_in_full) {
    static const coll_algorithm *const in_rank_order[] = {
        &coll_allgather_ring, &coll_allgather_bruck, &coll_alltoall_linear,
        &coll_reduce_scatter_circulant};
    enum { RACKS = 5 };
    const coll_algorithm *algorithm = in_rank_order[_i];
    for (int ranks = 40; ranks <= 100; ranks += 20)
        for (size_t bytes = 1000; bytes <= 100000; bytes *= 10) {
            scene s;
            set_scene(&s, algorithm, ranks, ranks / RACKS, bytes);
            for (int rank = 0; rank < ranks; rank++)
                s.places[rank].rack = rank % RACKS;
            s.shape.root = COLL_NO_ROOT;
            s.shape.element = 1;
            s.shape.ordered = true;
            s.shape.sides = blocks;
            for (int level = 0; level < COLL_LEVELS; level++)
                s.profile.level[level].together = RACKS / B;
            if (algorithm->applicable && !algorithm->applicable(&s.shape))
                continue;
            double estimate = coll_estimate(algorithm, &s.shape, &s.values);
            ck_assert_double_eq_tol(estimate / seconds_of(&s, algorithm), 1, 0.25);
        }
}
END_TEST

/*
 * If there are fewer elements than parts, most rounds of a ring move nothing. Sampling some of them
 * must not make it appear fast.
 */
START_TEST(empty_rounds_tell_nothing) {
    for (int ranks = 20; ranks <= 160; ranks *= 2) {
        scene s;
        set_scene(&s, &coll_allreduce_ring, ranks, 5, 8);
        s.shape.root = COLL_NO_ROOT;
        s.shape.element = 8;
        double estimate = coll_estimate(&coll_allreduce_ring, &s.shape, &s.values);
        ck_assert_double_eq_tol(estimate / seconds_of(&s, &coll_allreduce_ring), 1, 0.1);
    }
}
END_TEST

/*
 * Sets a call of OPERATION on RANKS hosts in five racks, with ALGORITHM of its table. Returns false
 * if that is impossible.
 */
static void set_operation(scene *s, const coll_operation_info *operation) {
    s->shape.operation = (coll_operation)(operation - coll_operations);
    s->shape.sides = operation->sides;
    s->shape.root = operation->rootless ? COLL_NO_ROOT : 0;
    s->shape.element = operation->reduces ? 8 : 0;
}

static bool set_call(scene *s, const coll_operation_info *operation,
                     const coll_algorithm *algorithm, int ranks, size_t bytes) {
    enum { RACKS = 5 };
    set_scene(s, algorithm, ranks, (ranks + RACKS - 1) / RACKS, bytes);
    set_operation(s, operation);
    return algorithm->planner && !operation->neighbors &&
           (!algorithm->applicable || algorithm->applicable(&s->shape));
}

/*
 * A prediction may stop at `enough` if the time is longer than that, even if the prediction without
 * a limit isn't. Shorter times are not affected.
 */
START_TEST(what_takes_less_than_is_enough_has_its_time) {
    static const int ranks[] = {16, 33, 150};
    const coll_operation_info *operation = &coll_operations[_i];
    for (const coll_algorithm *const *one = operation->table; *one; one++)
        for (int i = 0; i < (harness_proves("few") ? 1 : 3); i++)
            for (size_t bytes = 8; bytes <= 1 << 18; bytes <<= 15) {
                scene s;
                if (!set_call(&s, operation, *one, ranks[i], bytes))
                    continue;
                double estimate = coll_estimate(*one, &s.shape, &s.values);
                s.shape.enough = 1.01 * estimate;
                if (coll_estimate(*one, &s.shape, &s.values) != estimate)
                    ck_assert_double_gt(seconds_of(&s, *one), s.shape.enough);
                for (s.shape.enough = 0.9 * estimate; s.shape.enough > 0.1 * estimate;
                     s.shape.enough /= 2)
                    ck_assert_double_ge(coll_estimate(*one, &s.shape, &s.values), s.shape.enough);
            }
}
END_TEST

/* Sets the buffers between hosts to SHARE of those that a network with small switches has. */
static void set_buffers(coll_profile *network, double share) {
    const double small = 40e3;
    for (int level = COLL_LEVEL_RACK; level < COLL_LEVELS; level++)
        network->level[level].buffer = share * small;
}

/* So a choice needs no other estimate for a network that differs only in smaller buffers. */
START_TEST(buffers_of_the_share_that_was_filled_are_as_good) {
    const coll_operation_info *operation = &coll_operations[_i];
    const double rounding = 1 + 1e-9;
    int smaller = 0;
    for (const coll_algorithm *const *one = operation->table; *one; one++)
        for (int ranks = 7; ranks <= 33; ranks += 13)
            for (size_t bytes = 1 << 10; bytes <= 1 << 20; bytes <<= 5) {
                scene s;
                double fill = 0;
                if (!set_call(&s, operation, *one, ranks, bytes))
                    continue;
                coll_profile network = s.profile;
                s.shape.network = &network;
                s.shape.fill = &fill;
                set_buffers(&network, 1);
                const double seconds = coll_estimate(*one, &s.shape, &s.values);
                ck_assert_double_ge(fill, 0);
                ck_assert_double_le(fill, 1);
                if (fill == 0)
                    continue;
                smaller += fill < 1;
                set_buffers(&network, rounding * fill);
                ck_assert_double_eq(coll_estimate(*one, &s.shape, &s.values), seconds);
            }
    ck_assert_int_gt(smaller, 0);
}
END_TEST

/* Networks that have a share of the previous network's buffers differ in nothing else. */
START_TEST(networks_with_a_share_of_the_buffers_have_equal_costs) {
    scene s;
    coll_profile network = {.only_rates = false}, previous;
    int shares = 0;
    set_scene(&s, chain, 4, 4, 1);
    set_buffers(&s.profile, 1);
    s.profile.measured[COLL_LEVEL_RACK] = true;
    s.profile.only_rates = _i;
    for (int nth = 0; nth < coll_networks_count(&s.profile, &s.topo); nth++) {
        const double share = coll_networks_buffer_share(&s.profile, nth);
        previous = network;
        coll_networks_get(&s.profile, &s.topo, nth, &network);
        shares += share >= 0;
        for (int level = COLL_LEVEL_RACK; level < COLL_LEVELS && share >= 0; level++) {
            ck_assert_double_eq(network.level[level].buffer, share * previous.level[level].buffer);
            ck_assert_double_eq(network.level[level].overhead, previous.level[level].overhead);
            ck_assert_double_eq(network.level[level].per_byte, previous.level[level].per_byte);
        }
    }
    ck_assert_int_eq(shares, 1);
}
END_TEST

/* Returns how long a broadcast down a binomial tree of RANKS takes if each end of a message takes
 * shared processors WORK seconds. If WHOLE is not 0, the ranks stand for WHOLE ranks. */
static double seconds_if_shared(int ranks, double work, int whole) {
    scene s;
    set_scene(&s, &coll_bcast_binomial, ranks, ranks, 1);
    s.profile.shared_work = work;
    coll_topo all = s.topo;
    all.ranks = all.nodes = whole;
    const coll_sim_call call = {.algorithm = &coll_bcast_binomial,
                                .planner = coll_bcast_binomial.planner,
                                .shape = &s.shape,
                                .values = &s.values,
                                .whole = whole ? &all : NULL,
                                .budget = BUDGET};
    int64_t time;
    ck_assert_int_eq(coll_simulate(&call, &time), MPI_SUCCESS);
    return (double)time * 1e-9;
}

START_TEST(messages_take_turns_on_shared_processors) {
    enum { RANKS = 16, MESSAGES = RANKS - 1, ENDS = 2 };
    const double work = 1e-3, all = seconds_if_shared(RANKS, work, 0);
    ck_assert_double_ge(all, MESSAGES * ENDS * work);
    ck_assert_double_le(all, MESSAGES * ENDS * work + seconds_if_shared(RANKS, 0, 0));
    ck_assert_double_eq_tol(seconds_if_shared(RANKS, work, 2 * RANKS) / all, 2, 0.1);
}
END_TEST

START_TEST(processors_are_shared_if_messages_take_twice_as_long) {
    enum { RANKS = 12, OTHERS = RANKS - 2 };
    scene s;
    coll_profile network;
    set_scene(&s, chain, RANKS, RANKS, 1);
    coll_cost *cost = &s.profile.level[COLL_LEVEL_RACK];
    s.profile.measured[COLL_LEVEL_RACK] = true;
    s.profile.only_rates = _i;
    for (int longer = 0; longer <= 1; longer++) {
        cost->per_rank = (longer ? 1.1 : 0.9) * cost->latency / OTHERS;
        coll_networks_get(&s.profile, &s.topo, 0, &network);
        ck_assert_int_eq(network.shared_work > cost->per_rank, longer || _i);
    }
    const double few = network.shared_work;
    s.topo.ranks = s.topo.nodes = 2 * COLL_RANKS_MEASURED;
    coll_networks_get(&s.profile, &s.topo, 0, &network);
    ck_assert_double_eq_tol(few / network.shared_work, 2, 1e-9);
}
END_TEST

/* Counts the traffic of STEPS of RANKS. */
static coll_traffic count_traffic(const scene *s, const coll_algorithm *algorithm, int ranks,
                                  int64_t steps) {
    enum { BYTES = 1 << 20 };
    char *memory = malloc(BYTES), *room = memory;
    size_t left = BYTES;
    coll_link_load load;
    ck_assert_ptr_nonnull(memory);
    ck_assert(coll_link_load_open(&load, algorithm, &s->shape, &s->values, NULL, &room, &left));
    const coll_traffic traffic = coll_link_load_count(&load, UINT64_MAX, ranks, steps);
    free(memory);
    return traffic;
}

/* If all ranks do nearly the same, some of them are enough to count the bytes over links. */
START_TEST(some_ranks_tell_what_links_carry) {
    static const struct {
        coll_operation operation;
        const coll_algorithm *algorithm;
    } long_rounds[] = {{COLL_OPERATION_ALLTOALL, &coll_alltoall_bruck},
                       {COLL_OPERATION_ALLGATHER, &coll_allgather_bruck},
                       {COLL_OPERATION_REDUCE_SCATTER, &coll_reduce_scatter_circulant}};
    enum { RANKS = 250, FEW = 100, FEW_STEPS = 5000, STEPS = 1 << 24 };
    const coll_algorithm *algorithm = long_rounds[_i].algorithm;
    for (size_t bytes = 8; bytes <= 1 << 12; bytes <<= 9) {
        scene s;
        ck_assert(
            set_call(&s, &coll_operations[long_rounds[_i].operation], algorithm, RANKS, bytes));
        const coll_traffic some = count_traffic(&s, algorithm, FEW, FEW_STEPS),
                           all = count_traffic(&s, algorithm, RANKS, STEPS);
        ck_assert(all.exact && !some.exact);
        for (int kind = 0; kind <= COLL_LINK_RACK; kind++) {
            ck_assert_double_le(some.busiest[kind], 1.1 * all.busiest[kind]);
            ck_assert_double_ge(some.busiest[kind], 0.7 * all.busiest[kind]);
        }
    }
}
END_TEST

/* The same holds if even a few rounds of all ranks are too many to simulate. */
START_TEST(plans_in_step_of_many_ranks_take_as_long_as_they_do_in_full) {
    const coll_operation operation = _i ? COLL_OPERATION_ALLGATHER : COLL_OPERATION_ALLREDUCE;
    const coll_algorithm *algorithm = _i ? &coll_allgather_ring : &coll_allreduce_halving;
    scene s;
    ck_assert(set_call(&s, &coll_operations[operation], algorithm, _i ? 512 : 1024,
                       _i ? 4 << 10 : 64 << 10));
    double estimate = coll_estimate(algorithm, &s.shape, &s.values);
    ck_assert_double_eq_tol(estimate / seconds_of(&s, algorithm), 1, 0.15);
}
END_TEST

/* Sets the scene of a call without a root on NODES hosts of one rack with PER_NODE ranks each. */
static void set_shared_scene(scene *s, const coll_algorithm *algorithm, int nodes, int per_node,
                             size_t bytes) {
    const double inside = 20; /* messages inside a node take this much less */
    set_scene(s, algorithm, nodes * per_node, nodes * per_node, bytes);
    s->topo.nodes = nodes;
    s->topo.most_ranks_per_node = s->topo.cores_per_node = per_node;
    for (int rank = 0; rank < nodes * per_node; rank++)
        s->places[rank].node = rank / per_node;
    for (int level = 0; level <= COLL_LEVEL_NODE; level++)
        s->profile.level[level] =
            (coll_cost){.latency = a / inside, .overhead = a / 2 / inside, .per_byte = B / inside};
    s->shape.root = COLL_NO_ROOT;
}

/*
 * Also if the number of a plan's messages between nodes depends on how many ranks a node has: a
 * subset has whole nodes.
 */
START_TEST(plans_by_node_take_as_long_as_they_do_in_full) {
    static const coll_algorithm *const by_node[] = {&coll_allreduce_multi_leader,
                                                    &coll_allreduce_two_level,
                                                    &coll_allreduce_recursive_doubling};
    const coll_algorithm *algorithm = by_node[_i];
    for (size_t bytes = 8; bytes <= 4096; bytes *= 8) {
        scene s;
        set_shared_scene(&s, algorithm, 17, 16, bytes);
        s.shape.element = 1;
        double estimate = coll_estimate(algorithm, &s.shape, &s.values);
        ck_assert_double_eq_tol(estimate / seconds_of(&s, algorithm), 1, 0.25);
    }
}
END_TEST

/* A few nodes with many ranks each have no smaller subset that does the same. */
START_TEST(few_nodes_take_as_long_as_they_do_in_full) {
    static const coll_algorithm *const both[] = {&coll_allgather_ring,
                                                 &coll_allgather_multi_leader};
    const coll_algorithm *algorithm = both[_i];
    for (size_t bytes = 64; bytes <= 4096; bytes *= 8) {
        scene s;
        set_shared_scene(&s, algorithm, 6, 24, bytes);
        s.shape.sides = coll_operations[COLL_OPERATION_ALLGATHER].sides;
        double estimate = coll_estimate(algorithm, &s.shape, &s.values);
        ck_assert_double_eq_tol(estimate / seconds_of(&s, algorithm), 1, 0.25);
    }
}
END_TEST

/* Segments follow each other, each by all ranks of all nodes. */
START_TEST(pipelines_on_shared_nodes_take_as_long_as_they_do_in_full) {
    static const struct {
        const coll_algorithm *algorithm;
        int nodes, per_node;
        size_t bytes;
    } cases[] = {{&coll_allreduce_node_shares, 8, 8, 1 << 20},
                 {&coll_allreduce_node_shares, 12, 12, 256 << 10},
                 {&coll_allreduce_ring, 40, 4, 1 << 20}};
    const coll_algorithm *algorithm = cases[_i].algorithm;
    scene s;
    set_shared_scene(&s, algorithm, cases[_i].nodes, cases[_i].per_node, cases[_i].bytes);
    s.shape.element = 1;
    s.profile.level[COLL_LEVEL_RACK].latency = 30 * a;
    const double estimate = coll_estimate(algorithm, &s.shape, &s.values);
    ck_assert_double_eq_tol(estimate / seconds_of(&s, algorithm), 1, 0.12);
}
END_TEST

/* Rounds of node_shares don't wait for each other's messages: four take little longer than one. */
START_TEST(rounds_between_nodes_overlap) {
    enum { BYTES = 64 << 10, ROUNDS = 4 };
    const coll_algorithm *algorithm = &coll_allreduce_node_shares;
    scene s;
    set_shared_scene(&s, algorithm, 8, 8, BYTES);
    s.shape.element = 1;
    s.profile.level[COLL_LEVEL_RACK].latency = 300 * a;
    s.values.at[COLL_SEGMENT] = BYTES;
    const double whole = seconds_of(&s, algorithm);
    s.values.at[COLL_SEGMENT] = BYTES / ROUNDS;
    s.values.at[COLL_WINDOW] = ROUNDS;
    ck_assert_double_lt(seconds_of(&s, algorithm), 1.2 * whole);
}
END_TEST

/* At high latency, more rounds of two_tree are under way. */
START_TEST(a_window_covers_the_way_up_the_trees) {
    enum { BYTES = 1 << 20, FEW = 4 };
    const coll_algorithm *algorithm = &coll_reduce_two_tree;
    scene s;
    set_scene(&s, algorithm, 16, 16, BYTES);
    s.shape.element = 1;
    s.profile.level[COLL_LEVEL_RACK].latency = 300 * a;
    const double many = seconds_of(&s, algorithm);
    s.values.at[COLL_WINDOW] = FEW;
    ck_assert_double_lt(many, 0.7 * seconds_of(&s, algorithm));
}
END_TEST

/*
 * Two ranks of each node send to other nodes at the same time. Neither is ahead, so every second
 * exchange takes the time of two messages on the link, and a latency.
 */
START_TEST(ranks_of_a_node_share_its_link) {
    enum { NODES = 8, RANKS = 64, BLOCK = 16 << 10 };
    const coll_algorithm *algorithm = &coll_allgather_usual_neighbors;
    const double latency = 30 * a, message = 2 * BLOCK * B;
    scene s;
    set_shared_scene(&s, algorithm, NODES, RANKS / NODES, BLOCK);
    s.shape.sides = coll_operations[COLL_OPERATION_ALLGATHER].sides;
    s.profile.level[COLL_LEVEL_RACK].latency = latency;
    ck_assert_double_eq_tol(seconds_of(&s, algorithm) / (RANKS / 4 * (2 * message + latency)), 1,
                            0.1);
}
END_TEST

/*
 * In each pair of ranks on different nodes, long messages in opposite directions take turns. But
 * while some ranks of a node wait for their turn, others use its link.
 */
START_TEST(exchanges_of_several_pairs_use_both_directions) {
    enum { NODES = 8, PER_NODE = 8, BLOCK = 16 << 10 };
    const coll_algorithm *algorithm = &coll_allgather_multi_leader;
    scene s;
    set_shared_scene(&s, algorithm, NODES, PER_NODE, BLOCK);
    s.shape.sides = coll_operations[COLL_OPERATION_ALLGATHER].sides;
    s.values.at[0] = NODES;
    const double link = (NODES - 1) * PER_NODE * BLOCK * B;
    ck_assert_double_eq_tol(seconds_of(&s, algorithm) / link, 1.3, 0.3);
}
END_TEST

/* Unless the buffer before a host is small. */
START_TEST(the_slower_messages_are_the_more_chunks_are_under_way) {
    enum { CHUNK = 64 << 10, FEWEST = 4 };
    static const coll_algorithm *const algorithms[] = {&coll_allreduce_halving,
                                                       &coll_allreduce_circulant};
    const coll_algorithm *algorithm = algorithms[_i];
    scene s;
    set_scene(&s, algorithm, 64, 64, 16 * CHUNK);
    s.shape.root = COLL_NO_ROOT;
    s.shape.element = 1;
    s.profile.level[COLL_LEVEL_RACK].latency = 30 * a;
    const double most = seconds_of(&s, algorithm);
    s.profile.level[COLL_LEVEL_RACK].buffer = CHUNK;
    const double fitting = seconds_of(&s, algorithm);
    s.values.at[COLL_WINDOW] = FEWEST;
    ck_assert_double_eq(fitting, seconds_of(&s, algorithm));
    ck_assert_double_lt(most, 0.9 * fitting);
}
END_TEST

/* A rank of each node exchanges with another node in every second step. */
START_TEST(long_exchanges_of_neighbors_take_as_long_as_they_do_in_full) {
    const coll_algorithm *algorithm = &coll_allgather_usual_neighbors;
    scene s;
    set_shared_scene(&s, algorithm, 12, 12, 16 << 10);
    s.shape.sides = coll_operations[COLL_OPERATION_ALLGATHER].sides;
    s.profile.level[COLL_LEVEL_RACK].latency = 30 * a;
    double estimate = coll_estimate(algorithm, &s.shape, &s.values);
    ck_assert_double_eq_tol(estimate / seconds_of(&s, algorithm), 1, 0.1);
}
END_TEST

/* Calls of many ranks that all do the same. */
static const struct call_of_many {
    const coll_algorithm *algorithm;
    size_t bytes;
    bool sums;
} of_many[] = {{&coll_allreduce_ring, 1 << 20, true},
               {&coll_allreduce_racks, 1 << 20, true},
               {&coll_allreduce_recursive_doubling, 1 << 13, true},
               {&coll_allreduce_halving, 1 << 18, true},
               {&coll_alltoall_pairwise, 1000, false},
               {&coll_alltoall_racks, 100, false},
               {&coll_alltoall_bruck, 10, false}};

/* Sets SITES of four racks of four hosts. Each host can send at twice its share of an uplink. */
static void set_scene_of_many(scene *s, const struct call_of_many *c, int sites, int a_rack) {
    const int ranks = sites * 4 * a_rack;
    set_scene(s, c->algorithm, ranks, a_rack, c->bytes);
    s->topo.sites = sites;
    for (int rank = 0; rank < ranks; rank++)
        s->places[rank].site = rank / (4 * a_rack);
    s->shape.root = COLL_NO_ROOT;
    s->shape.element = c->sums;
    if (!c->sums)
        s->shape.sides = blocks;
    s->profile.level[COLL_LEVEL_SITE].together = s->profile.level[COLL_LEVEL_WIDE].together =
        ranks / 2 / B;
    s->profile.level[COLL_LEVEL_WIDE].latency *= 3;
}

/*
 * With fewer events than a full simulation needs, long calls are predicted to take about the same
 * time. But a few rounds do not show how the pipeline of racks fills.
 */
START_TEST(long_simulations_agree_with_full_ones) {
    const struct call_of_many *c = &of_many[_i];
    scene s;
    set_scene_of_many(&s, c, 16, 4);
    double all = seconds_of(&s, c->algorithm);
    const int fewest = c->algorithm == &coll_allreduce_racks ? 400000 : 40000;
    for (s.shape.events = 4000000; s.shape.events >= fewest; s.shape.events /= 10) {
        double estimate = coll_estimate(c->algorithm, &s.shape, &s.values);
        ck_assert_double_eq_tol(estimate / all, 1, 0.35);
    }
}
END_TEST

/* Calls in which the rounds of one rank, or of four ranks, exceed the limit of events. */
static const struct {
    coll_operation operation;
    const coll_algorithm *algorithm;
    size_t bytes;
} very_long[] = {{COLL_OPERATION_REDUCE_SCATTER, &coll_reduce_scatter_pairwise, 64 << 20},
                 {COLL_OPERATION_BCAST, &coll_bcast_circulant, 2 << 20},
                 {COLL_OPERATION_BCAST, &coll_bcast_circulant, 16 << 20}};

START_TEST(calls_of_very_many_rounds_between_sites_have_a_time) {
    enum { RANKS = 36, SITES = 6 };
    const coll_algorithm *algorithm = very_long[_i].algorithm;
    scene s;
    ck_assert(set_call(&s, &coll_operations[very_long[_i].operation], algorithm, RANKS,
                       very_long[_i].bytes));
    s.topo.sites = SITES;
    for (int rank = 0; rank < RANKS; rank++)
        s.places[rank].site = s.places[rank].rack = rank / (RANKS / SITES);
    s.topo.racks = SITES;
    const double estimate = coll_estimate(algorithm, &s.shape, &s.values);
    ck_assert(isfinite(estimate) && estimate > 0);
}
END_TEST

/* From site C, B is 10 ms away, A 20 ms over B, and D 30 ms. All others are farther from D. */
static const double four_sites[] = {0, 10, 40, 60, 10, 0, 10, 60, 40, 10, 0, 30, 60, 60, 30, 0};

static void set_sites(scene *s, coll_operation operation, const coll_algorithm *algorithm,
                      int a_site, double latencies[]) {
    enum { SITES = 4 };
    set_scene(s, algorithm, SITES * a_site, a_site, operation == COLL_OPERATION_BARRIER ? 1 : 8);
    set_operation(s, &coll_operations[operation]);
    s->topo.sites = SITES;
    for (int rank = 0; rank < SITES * a_site; rank++)
        s->places[rank].site = s->places[rank].rack;
    for (int i = 0; i < SITES * SITES; i++)
        latencies[i] = four_sites[i] * 1e-3;
    s->shape.latencies = latencies;
}

/*
 * A path to C and back, or between A and D a reduce to A. Also if only some of the ranks are
 * simulated.
 */
START_TEST(calls_go_by_the_shortest_ways_between_sites) {
    const struct {
        coll_operation operation;
        const coll_algorithm *algorithm;
        double expected;
        const char *chosen;
        int fewest; /* ranks of a site; with one each, a chain takes the same paths */
    } cases[] = {{COLL_OPERATION_ALLREDUCE, &hlot_allreduce_sites, 2 * 30e-3, "all_sites", 1},
                 {COLL_OPERATION_ALLREDUCE, &hlot_allreduce_all_sites, 50e-3, "all_sites", 1},
                 {COLL_OPERATION_REDUCE, &hlot_reduce_sites, 50e-3, "sites", 4},
                 {COLL_OPERATION_BARRIER, &hlot_barrier_all_sites, 50e-3, "all_sites", 1}};
    const coll_spec none = {.algorithm = NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int a_site = cases[i].fewest; a_site <= 256; a_site *= 4) {
            scene s;
            double latencies[16];
            set_sites(&s, cases[i].operation, cases[i].algorithm, a_site, latencies);
            double estimate = coll_estimate(cases[i].algorithm, &s.shape, &s.values);
            ck_assert_double_ge(estimate, cases[i].expected);
            ck_assert_double_eq_tol(estimate / cases[i].expected, 1, 0.02);
            coll_choice choice = coll_select(&s.shape, &none);
            ck_assert_str_eq(choice.algorithm->name, cases[i].chosen);
        }
}
END_TEST

/* A message between two sites takes the latency of these sites. */
START_TEST(sites_have_latencies_of_their_own) {
    scene s;
    double latencies[16], known, unknown;
    set_sites(&s, COLL_OPERATION_ALLREDUCE, &coll_allreduce_recursive_doubling, 1, latencies);
    known = seconds_of(&s, &coll_allreduce_recursive_doubling);
    ck_assert_double_eq_tol(known, 30e-3 + 60e-3, 1e-3); /* first C and D, then B and D */
    s.shape.latencies = NULL;
    unknown = seconds_of(&s, &coll_allreduce_recursive_doubling);
    ck_assert_double_lt(unknown, 1e-3);
}
END_TEST

/* Also at 1 KB, from where on the MPI library's own algorithm needs less of an advantage. On 32
 * ranks the same algorithms are applicable to all sizes of the class. */
START_TEST(a_size_class_has_one_choice) {
    enum { LEAST = 1 << 10, MOST = 2 * LEAST - 1 };
    const coll_spec none = {.algorithm = NULL};
    const coll_operation_info *operation = &coll_operations[_i];
    scene s;
    set_shared_scene(&s, operation->table[0], 8, 4, LEAST);
    set_operation(&s, operation);
    const coll_choice of_least = coll_select(&s.shape, &none);
    s.shape.bytes = MOST;
    const coll_choice of_most = coll_select(&s.shape, &none);
    ck_assert_str_eq(of_least.algorithm->name, of_most.algorithm->name);
}
END_TEST

/* Finds the candidates for the call of S. Returns their number. */
static int find_candidates(const scene *s, coll_choice candidates[]) {
    int count = 0;
    for (const coll_algorithm *const *one = coll_operations[s->shape.operation].table; *one; one++)
        if (!(*one)->rival && coll_select_applicable(*one, &s->shape))
            candidates[count++] =
                (coll_choice){.algorithm = *one, .values = coll_values_default(*one)};
    return count;
}

/* A comparison skips predictions that can't differ, and gives the same times as single predictions.
 */
START_TEST(comparisons_agree_with_predictions) {
    const double almost = 0.05;
    coll_choice candidates[COLL_CANDIDATES];
    for (int measured = 0; measured < 3; measured++)
        for (size_t bytes = 8; bytes <= 1 << 20; bytes <<= 3) {
            scene s;
            set_shared_scene(&s, coll_operations[_i].table[0], 9, measured + 1, bytes);
            set_operation(&s, &coll_operations[_i]);
            set_buffers(&s.profile, 1);
            s.profile.measured[COLL_LEVEL_RACK] = measured > 0;
            s.profile.only_rates = measured == 1;
            const int count = find_candidates(&s, candidates);
            const coll_comparison all = coll_compare(&s.shape, candidates, count);
            ck_assert_int_gt(all.networks, 1);
            for (int n = 0; n < all.networks; n++) {
                double seconds[COLL_CANDIDATES], least = INFINITY;
                coll_profile network;
                coll_networks_get(&s.profile, &s.topo, n, &network);
                for (int i = 0; i < count; i++) {
                    seconds[i] = coll_predicted_on(candidates[i].algorithm, &s.shape,
                                                   &candidates[i].values, &network);
                    least = fmin(least, seconds[i]);
                }
                for (int i = 0; i < count; i++)
                    ck_assert_double_eq_tol(
                        all.slower[n][i] / fmin(seconds[i] / least, COLL_MOST_REGRET), 1, almost);
            }
        }
}
END_TEST

/* A block that is much longer than the others passes the links of a ring once. */
START_TEST(a_long_block_goes_around_the_ring) {
    static const coll_operation operations[] = {COLL_OPERATION_ALLGATHER,
                                                COLL_OPERATION_REDUCE_SCATTER};
    const coll_spec none = {.algorithm = NULL};
    for (int i = 0; i < 2; i++) {
        const coll_operation_info *operation = &coll_operations[operations[i]];
        scene s;
        set_scene(&s, operation->table[0], 64, 64, 1 << 10);
        set_operation(&s, operation);
        const coll_choice even = coll_select(&s.shape, &none);
        s.shape.longest = s.shape.bytes * 3 / 2;
        ck_assert_str_eq(coll_select(&s.shape, &none).algorithm->name, even.algorithm->name);
        s.shape.longest = s.shape.bytes * 64;
        ck_assert_str_eq(coll_select(&s.shape, &none).algorithm->name, "ring");
        ck_assert_str_ne(even.algorithm->name, "ring");
    }
}
END_TEST

START_TEST(a_result_is_always_the_same) {
    for (int i = 0; i < 2; i++) {
        const coll_algorithm *algorithm = i ? two_tree : chain;
        scene s;
        set_scene(&s, algorithm, 24, 6, 300000);
        int64_t first = simulate(&s, algorithm, BUDGET);
        for (s.shape.root = 0; s.shape.root < 24; s.shape.root++)
            ck_assert_int_eq(simulate(&s, algorithm, BUDGET), first);
    }
}
END_TEST

/* With too little memory for a simulation, the predicted time is right or there is none. */
START_TEST(with_too_little_memory_there_is_no_time) {
    enum { RANKS = 64, ENOUGH = 4 << 20, STEP = 1000, RESULTS = 50 };
    for (int i = 0; i < 2; i++) {
        const coll_algorithm *algorithm = i ? two_tree : chain;
        scene s;
        set_scene(&s, algorithm, RANKS, 8, 40000);
        coll_sim_call call = {.algorithm = algorithm,
                              .planner = algorithm->planner,
                              .shape = &s.shape,
                              .values = &s.values,
                              .budget = BUDGET,
                              .messages = 1 << 12,
                              .memory = malloc(ENOUGH)};
        ck_assert_ptr_nonnull(call.memory);
        int64_t right = simulate(&s, algorithm, BUDGET), time;
        int known = 0;
        for (call.bytes = 0; call.bytes <= ENOUGH && known < RESULTS; call.bytes += STEP) {
            ck_assert_int_eq(coll_simulate(&call, &time), MPI_SUCCESS);
            if (time != COLL_SIM_UNKNOWN)
                ck_assert_int_eq(time, right);
            known += time == right;
        }
        ck_assert_int_eq(known, RESULTS);
        free(call.memory);
    }
}
END_TEST

/*
 * Observes messages: none arrives before it was sent, and the last one arrives when the call ends.
 */
typedef struct seen {
    int64_t last;
    size_t bytes;
} seen;

static void see(const COLL_Message *message, void *context) {
    seen *all = context;
    ck_assert(0 <= message->start && message->start < message->arrival &&
              message->arrival < message->end);
    all->last = message->end > all->last ? message->end : all->last;
    all->bytes += message->bytes;
}

START_TEST(every_message_is_seen) {
    enum { RANKS = 12, BYTES = 200000 };
    int64_t ends[RANKS], last = 0;
    seen all = {.last = 0};
    scene s;
    set_scene(&s, two_tree, RANKS, 4, BYTES);
    const coll_sim_call call = {.algorithm = two_tree,
                                .planner = two_tree->planner,
                                .shape = &s.shape,
                                .values = &s.values,
                                .budget = BUDGET,
                                .watch = see,
                                .context = &all,
                                .ends = ends};
    int64_t time;
    ck_assert_int_eq(coll_simulate(&call, &time), MPI_SUCCESS);
    for (int rank = 0; rank < RANKS; rank++)
        last = ends[rank] > last ? ends[rank] : last;
    ck_assert_uint_eq(all.bytes, (RANKS - 1) * BYTES);
    ck_assert_int_eq(all.last, time);
    ck_assert_int_eq(last, time);
}
END_TEST

START_TEST(calls_beyond_the_budget_have_no_time) {
    scene s;
    set_scene(&s, chain, 150, 5, 1 << 20);
    for (int budget = 1; budget < 10000; budget *= 3)
        ck_assert_int_eq(simulate(&s, chain, budget), COLL_SIM_UNKNOWN);
}
END_TEST

START_TEST(algorithms_without_a_prediction_are_simulated) {
    coll_algorithm silent = *two_tree;
    silent.predict = NULL;
    scene s;
    set_scene(&s, &silent, 24, 6, 3000000);
    ck_assert_double_eq(coll_predicted(&silent, &s.shape, &s.values),
                        coll_estimate(&silent, &s.shape, &s.values));
}
END_TEST

/*
 * The bytes that are sent one after the other in the algorithm that Open MPI runs, as a multiple of
 * M, the bytes of all blocks.
 */
static const struct usual_call {
    coll_operation operation;
    int ranks;
    size_t block;
    bool ordered;
    double bytes; /* as a multiple of M */
} usual_calls[] = {
    {COLL_OPERATION_ALLGATHER, 8, 4 << 10, false, 7.0 / 8},
    {COLL_OPERATION_ALLGATHER, 12, 4 << 10, false, 11.0 / 12},
    {COLL_OPERATION_ALLGATHER, 34, 4 << 10, false, 33.0 / 34},
    {COLL_OPERATION_ALLGATHER, 35, 4 << 10, false, 34.0 / 35},
    {COLL_OPERATION_REDUCE_SCATTER, 8, 4 << 10, false, 7.0 / 8},
    /* First all of a rank's data, and then 1/2, 1/4 and 1/8 of twice as many blocks. */
    {COLL_OPERATION_REDUCE_SCATTER, 12, 4 << 10, false, 1 + 11.0 / 12},
    {COLL_OPERATION_REDUCE_SCATTER, 34, 4 << 10, false, 1 + 33.0 / 34},
    /* Rank 0 receives all data of all others, and sends them their blocks. */
    {COLL_OPERATION_REDUCE_SCATTER, 12, 4 << 10, true, 11 + 11.0 / 12},
};

START_TEST(native_takes_the_time_of_what_it_runs) {
    const struct usual_call *call = &usual_calls[_i];
    const coll_operation_info *info = &coll_operations[call->operation];
    scene s;
    set_scene(&s, info->table[0], call->ranks, call->ranks, call->block);
    s.shape.operation = call->operation;
    s.shape.sides = info->sides;
    s.shape.root = COLL_NO_ROOT;
    s.shape.element = info->reduces ? 4 : 0;
    s.shape.ordered = call->ordered;
    const double wire = call->bytes * call->ranks * (double)call->block * B,
                 seconds = coll_native_estimate(&s.shape);
    ck_assert_double_ge(seconds, 0.95 * wire);
    ck_assert_double_le(seconds, 1.6 * wire + 100 * a);
}
END_TEST

START_TEST(empty_calls_are_not_simulated) {
    scene s;
    set_scene(&s, chain, 1, 1, 1000);
    ck_assert_int_eq(simulate(&s, chain, 1), 0);
    set_scene(&s, chain, 9, 3, 0);
    ck_assert_int_eq(simulate(&s, chain, 1), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("sim");
    TCase *cases = tcase_create("sim");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_chain_takes_as_long_as_zhang_says);
    tcase_add_loop_test(cases, others_take_as_many_messages_as_is_said, 0,
                        sizeof formulas / sizeof *formulas);
    tcase_add_test(cases, two_messages_on_an_uplink_take_twice_as_long);
    tcase_add_test(cases, messages_on_links_of_their_own_dont_wait);
    tcase_add_test(cases, a_buffer_that_overflows_costs_one_timeout);
    tcase_add_loop_test(cases, long_calls_take_as_long_as_they_do_in_full, 0, 2);
    tcase_add_loop_test(cases, long_exchanges_take_twice_as_long, 0, 2);
    tcase_add_loop_test(cases, exchanges_among_all_take_as_long_as_they_do_in_full, 0, 4);
    tcase_add_test(cases, long_calls_in_shares_take_as_long_as_they_do_in_full);
    tcase_add_test(cases, rounds_of_large_racks_take_as_long_as_they_do_in_full);
    tcase_add_test(cases, empty_rounds_tell_nothing);
    tcase_add_loop_test(cases, what_takes_less_than_is_enough_has_its_time, 0, COLL_OPERATIONS);
    tcase_add_loop_test(cases, buffers_of_the_share_that_was_filled_are_as_good,
                        COLL_OPERATION_ALLREDUCE, COLL_OPERATION_SCATTER);
    tcase_add_loop_test(cases, networks_with_a_share_of_the_buffers_have_equal_costs, 0, 2);
    tcase_add_test(cases, messages_take_turns_on_shared_processors);
    tcase_add_loop_test(cases, processors_are_shared_if_messages_take_twice_as_long, 0, 2);
    tcase_add_loop_test(cases, some_ranks_tell_what_links_carry, 0, 3);
    tcase_add_loop_test(cases, plans_by_node_take_as_long_as_they_do_in_full, 0, 3);
    tcase_add_loop_test(cases, pipelines_on_shared_nodes_take_as_long_as_they_do_in_full, 0, 3);
    tcase_add_test(cases, rounds_between_nodes_overlap);
    tcase_add_test(cases, a_window_covers_the_way_up_the_trees);
    tcase_add_test(cases, ranks_of_a_node_share_its_link);
    tcase_add_test(cases, exchanges_of_several_pairs_use_both_directions);
    tcase_add_loop_test(cases, the_slower_messages_are_the_more_chunks_are_under_way, 0, 2);
    tcase_add_test(cases, long_exchanges_of_neighbors_take_as_long_as_they_do_in_full);
    tcase_add_loop_test(cases, few_nodes_take_as_long_as_they_do_in_full, 0, 2);
    tcase_add_loop_test(cases, plans_in_step_of_many_ranks_take_as_long_as_they_do_in_full, 0,
                        harness_proves("few") ? 1 : 2);
    tcase_add_loop_test(cases, uplinks_are_as_crowded_as_in_full, 0, 4);
    tcase_add_loop_test(cases, long_simulations_agree_with_full_ones, 0,
                        sizeof of_many / sizeof *of_many);
    tcase_add_loop_test(cases, calls_of_very_many_rounds_between_sites_have_a_time, 0,
                        sizeof very_long / sizeof *very_long);
    tcase_add_test(cases, calls_go_by_the_shortest_ways_between_sites);
    tcase_add_test(cases, sites_have_latencies_of_their_own);
    tcase_add_loop_test(cases, a_size_class_has_one_choice, COLL_OPERATION_ALLREDUCE,
                        COLL_OPERATION_SCATTER + 1);
    tcase_add_loop_test(cases, comparisons_agree_with_predictions, COLL_OPERATION_ALLREDUCE,
                        COLL_OPERATION_BARRIER);
    tcase_add_test(cases, a_long_block_goes_around_the_ring);
    tcase_add_test(cases, a_result_is_always_the_same);
    tcase_add_test(cases, with_too_little_memory_there_is_no_time);
    tcase_add_test(cases, every_message_is_seen);
    tcase_add_test(cases, calls_beyond_the_budget_have_no_time);
    tcase_add_test(cases, algorithms_without_a_prediction_are_simulated);
    tcase_add_test(cases, empty_calls_are_not_simulated);
    tcase_add_loop_test(cases, native_takes_the_time_of_what_it_runs, 0,
                        sizeof usual_calls / sizeof *usual_calls);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
