/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * linear: sums go from rank to rank, in the order of their numbers; for large data.
 *
 * A rank adds its own data to each segment of the sum from the rank before it, and sends the result
 * to the next rank.
 *
 * Steps: p - 1 + n - 1 for n segments. Bytes: m from every rank and to it; over a rack's uplink m
 * for each of the rack's ranks whose neighbour by number is in another rack. Memory: two segments
 * for each round of the window.
 */
#include "config.h"

#include "lib/plan/tuned.h"
#include "lib/scan/scan.h"

static coll_step send_on(const coll_scan_plan *plan, coll_buffer buffer, size_t from,
                         size_t length) {
    coll_step step = coll_step_send(plan->rank + 1, from, length);
    step.buffer = buffer;
    return step;
}

/* Writes a round of a scan: the result is the received sum plus this rank's own data. */
static int scan_round(const coll_scan_plan *plan, size_t from, size_t length, coll_step steps[]) {
    int count = 0;
    if (plan->rank > 0) {
        steps[0] = coll_step_receive(plan->rank - 1, 0, length);
        steps[0].buffer = COLL_SCRATCH;
        steps[1] = coll_step_combine(COLL_DATA, from, length, false, true);
        coll_step_after(&steps[1], 0, 0);
        count = 2;
    }
    if (plan->rank == plan->ranks - 1)
        return count;
    steps[count] = send_on(plan, COLL_DATA, from, length);
    steps[count].segment = 1;
    coll_step_after(&steps[count], 0, count - 1);
    return count + 1;
}

/* Writes a round of an exscan: the result is the received sum. */
static int exscan_round(const coll_scan_plan *plan, size_t from, size_t length, coll_step steps[]) {
    if (plan->rank == 0) {
        steps[0] = send_on(plan, COLL_INPUT, from, length);
        return 1;
    }
    steps[0] = coll_step_receive(plan->rank - 1, from, length);
    if (plan->rank == plan->ranks - 1)
        return 1;
    steps[0].buffer = COLL_SCRATCH;
    steps[1] = coll_step_copy(COLL_DATA, from, length, false);
    coll_step_after(&steps[1], 0, 0);
    steps[2] = coll_step_combine(COLL_INPUT, from, length, true, true);
    coll_step_after(&steps[2], 0, 1);
    steps[3] = send_on(plan, COLL_SCRATCH, from, length);
    coll_step_after(&steps[3], 0, 2);
    return 4;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_scan_plan *plan = (const coll_scan_plan *)base;
    coll_range what = coll_segment_at(base->args->shape->bytes, base->size.segment, round);
    return plan->excludes ? exscan_round(plan, what.from, what.length, steps)
                          : scan_round(plan, what.from, what.length, steps);
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    size_t segment = coll_segment_asked(args, args->shape->topo->ranks - 2);
    return coll_scan_size(args, segment, args->values->at[COLL_WINDOW], 4, 2);
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_scan_open(args, size, memory, plan_round);
}

const coll_algorithm coll_scan_linear = {
    .name = "linear",
    .summary = "sums pass from rank to rank, in segments",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES "; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("segments in flight", 4)},
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
