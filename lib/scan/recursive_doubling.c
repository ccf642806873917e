/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recursive_doubling: every rank's sum covers twice as many ranks in each turn; for small data.
 *
 * 1. In turn k a rank sends its sum, of the 2^k ranks up to itself, to the rank 2^k above it, and
 *    prepends the sum that it receives from the rank 2^k below it.
 * 2. In an exscan each rank first receives the contribution of the rank below it, and begins with
 *    this contribution instead of its own.
 *
 * Ranks are in the order of their numbers. Long data moves in segments, each with all its turns.
 *
 * Steps: ceil(log2 p), or ceil(log2 (p - 1)) + 1 for an exscan. Bytes: at most m for each step,
 * from every rank and to it. Memory: a segment for each step, for each round of the window.
 * Source: Hillis, Steele: Data parallel algorithms, CACM 1986.
 */
#include "config.h"

#include "lib/pattern/binomial.h"
#include "lib/scan/scan.h"

/*
 * Segments of scratch memory: OWN to pack non-contiguous data, BROUGHT to pack non-contiguous
 * input, and ARRIVALS + k for the sum received in turn k.
 */
enum { OWN, BROUGHT, ARRIVALS };

/*
 * Writes the first step of an exscan, in which a rank's data becomes the contribution of the rank
 * below it. Returns the number of steps.
 */
static int shift_contributions(const coll_scan_plan *plan, size_t from, size_t length,
                               coll_step steps[]) {
    int count = 0;
    if (plan->rank > 0)
        steps[count++] = coll_step_receive(plan->rank - 1, from, length);
    if (plan->rank < plan->ranks - 1) {
        steps[count] = coll_step_send(plan->rank + 1, from, length);
        steps[count].buffer = COLL_INPUT;
        steps[count++].segment = BROUGHT;
    }
    return count;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_scan_plan *plan = (const coll_scan_plan *)base;
    coll_range what = coll_segment_at(base->args->shape->bytes, base->size.segment, round);
    size_t from = what.from, length = what.length;
    int count = plan->excludes ? shift_contributions(plan, from, length, steps) : 0,
        lowest = plan->excludes,
        latest = plan->excludes ? 0 : -1; /* the step that completes the sum so far */
    if (plan->rank < lowest)
        return count;
    for (int turn = 0; 1 << turn < plan->ranks - lowest; turn++) {
        int above = plan->rank + (1 << turn), below = plan->rank - (1 << turn), read = latest;
        if (above < plan->ranks) {
            steps[count] = coll_step_send(above, from, length);
            coll_step_after(&steps[count], 0, latest);
            read = count++;
        }
        if (below < lowest)
            continue;
        steps[count] = coll_step_receive(below, 0, length);
        steps[count].buffer = COLL_SCRATCH;
        steps[count].segment = ARRIVALS + turn;
        coll_step *sum = &steps[count + 1];
        *sum = coll_step_combine(COLL_DATA, from, length, false, true);
        sum->segment = ARRIVALS + turn;
        coll_step_after(sum, 0, count);
        coll_step_after(sum, 0, read);
        latest = count + 1;
        count += 2;
    }
    return count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    int turns = coll_tree_depth(args->shape->topo->ranks);
    return coll_scan_size(args, coll_segment_given(args), args->values->at[COLL_WINDOW],
                          2 + 3 * turns, ARRIVALS + turns);
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_scan_open(args, size, memory, plan_round);
}

const coll_algorithm coll_scan_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "sums of twice as many ranks in each turn",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES, 32 << 10),
               COLL_PARAM_WINDOW("segments in flight", 4)},
    .reproducible = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
