/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dissemination: in every round each rank sends a message to a few others. The message means that
 * the sender has arrived, as have all ranks from which the sender has heard, directly or
 * indirectly.
 *
 * In round j the receivers are the ranks 1, 2, ..., k - 1 times k^j places behind the sender in the
 * line, so the number of ranks from which a rank has heard grows by the factor k in each round. The
 * line is in chain order: the first rounds stay inside hosts and racks, except at their ends.
 *
 * Steps: ceil(log_k p) rounds of k - 1 messages. All messages are empty; each rank sends at most (k
 * - 1) ceil(log_k p), in the last rounds only to other racks.
 * Source: Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988, for k = 2;
 * Hoefler, Mehlan, Mietke, Rehm: Fast barrier synchronization for InfiniBand, IPDPS 2006, for more.
 */
#include "config.h"

#include "lib/barrier/barrier.h"
#include "lib/pattern/radix.h"

enum { RADIX };

int coll_barrier_round(const int ranks[], int count, int place, int radix, int round,
                       coll_step steps[]) {
    long long first = coll_radix_worth(radix, round);
    int made = 0;
    for (int i = 1; i < radix && i * first < count; i++) {
        int distance = (int)(i * first);
        steps[made++] = coll_step_send(ranks[(place + distance) % count], 0, 0);
        steps[made++] = coll_step_receive(ranks[(place + count - distance) % count], 0, 0);
    }
    return made;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_plan_args *args = base->args;
    return coll_barrier_round(args->line->order, args->shape->topo->ranks, args->line->position,
                              (int)args->values->at[RADIX], (int)round, steps);
}

/* A window of 1: a round begins when the one before is complete. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    return (coll_plan_size){.window = 1,
                            .steps = 2 * ((int)args->values->at[RADIX] - 1),
                            .segments = 1,
                            .own_bytes = sizeof(coll_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    int rounds = coll_radix_digits(args->shape->topo->ranks, (int)args->values->at[RADIX]);
    return coll_plan_make(args, size, memory, (uint64_t)rounds, plan_round);
}

const coll_algorithm coll_barrier_dissemination = {
    .name = "dissemination",
    .summary = "in each round every rank informs a few others of the ranks it has heard from",
    .params = {[RADIX] = {"radix", "a rank's messages in a round, plus one", .fallback = 4,
                          .lowest = 2, .highest = COLL_BARRIER_RADIX}},
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
