/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/scan/scan.h"

coll_plan_size coll_scan_size(const coll_plan_args *args, size_t segment, size_t window, int steps,
                              int segments) {
    return (coll_plan_size){
        .window = (int)coll_least(window, coll_segment_count(args->shape->bytes, segment)),
        .steps = steps,
        .segments = segments,
        .segment = segment,
        .own_bytes = sizeof(coll_scan_plan)};
}

coll_plan *coll_scan_open(const coll_plan_args *args, coll_plan_size size, void *memory,
                          coll_round *round) {
    const coll_shape *shape = args->shape;
    coll_scan_plan *plan = memory;
    *plan = (coll_scan_plan){
        .base = coll_plan_of(args, size, coll_segment_count(shape->bytes, size.segment), round),
        .rank = args->line->order[args->line->position],
        .ranks = shape->topo->ranks,
        .excludes = shape->sides.input == COLL_SIDE_ONE};
    return &plan->base;
}
