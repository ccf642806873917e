/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * linear: every rank sends each block directly to its neighbour, and receives all blocks at the
 * same time.
 *
 * Steps: one. Bytes: each block once. Memory: a segment for each block of a rank.
 */
#include "config.h"

#include "lib/neighbor/neighbor.h"
#include "lib/plan/plan.h"

/* Upper limit of all segments of a rank together, in bytes, so that the communicator's scratch
 * memory is enough. */
static const size_t SEGMENTS_MOST = 512 << 10;

/* The round of a plan that is being written. */
typedef struct draft {
    const coll_plan_args *args;
    size_t segment;
    uint64_t round;
    coll_step *steps;
    int count;
} draft;

/* Adds the message of this round for BLOCK of BUFFER, to or from PEER. */
static void add_message(draft *d, coll_buffer buffer, int block, int peer) {
    const coll_blocks *blocks = buffer == COLL_INPUT ? d->args->input : d->args->blocks;
    const size_t bytes = blocks ? coll_blocks_bytes(blocks, block) : d->args->own,
                 from = (size_t)d->round * d->segment;
    if (from >= bytes)
        return;
    coll_step *step = &d->steps[d->count];
    *step = coll_step_message(buffer == COLL_INPUT ? COLL_STEP_SEND : COLL_STEP_RECEIVE, peer, from,
                              coll_segment_length(bytes, d->segment, d->round));
    step->buffer = buffer;
    step->block = block;
    step->at = (size_t)d->count++ * d->segment;
}

/* Adds this rank's messages of BUNDLE: its receives if BUFFER is COLL_DATA, its sends if it is
 * COLL_INPUT. */
static void add_bundle(draft *d, const coll_edge_bundle *bundle, coll_buffer buffer) {
    const int own = d->args->line->order[d->args->line->position];
    const coll_edge *edge = &d->args->shape->graph->edge[bundle->first];
    for (int i = 0; i < bundle->count; i++, edge++) {
        if (buffer == COLL_DATA && edge->destination == own)
            add_message(d, COLL_DATA, edge->in, edge->source);
        if (buffer == COLL_INPUT && edge->source == own)
            add_message(d, COLL_INPUT, edge->out, edge->destination);
    }
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_plan_args *args = base->args;
    const coll_graph *graph = args->shape->graph;
    const int node = args->shape->topo->places[args->line->order[args->line->position]].node;
    draft d = {.args = args,
               .segment = base->size.segment / (size_t)base->size.steps,
               .round = round,
               .steps = steps};
    for (int a = graph->first_arriving[node]; a < graph->first_arriving[node + 1]; a++)
        add_bundle(&d, &graph->bundle[graph->arriving[a]], COLL_DATA);
    for (int b = graph->leaving[node]; b < graph->leaving[node + 1]; b++)
        add_bundle(&d, &graph->bundle[b], COLL_INPUT);
    return d.count;
}

/* Returns a plan size that doesn't depend on the length of the blocks, since a rank without
 * neighbours need not know that length. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    const int steps = args->shape->graph->linear.steps > 0 ? args->shape->graph->linear.steps : 1;
    size_t segment = coll_least(args->values->at[COLL_SEGMENT], SEGMENTS_MOST / (size_t)steps);
    return (coll_plan_size){.window = 1,
                            .steps = steps,
                            .segments = 1,
                            .segment = (size_t)steps * (segment > 0 ? segment : 1),
                            .own_bytes = sizeof(coll_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    const size_t sent = args->input ? coll_blocks_longest(args->input) : args->own,
                 received = coll_blocks_longest(args->blocks);
    return coll_plan_make(
        args, size, memory,
        coll_segment_count(sent > received ? sent : received, size.segment / (size_t)size.steps),
        plan_round);
}

static bool is_applicable(const coll_shape *call) {
    return call->graph;
}

static double predict(const coll_shape *call, const coll_values *values) {
    (void)values;
    return coll_neighbor_seconds(call, call->graph ? &call->graph->linear : NULL, 1);
}

const coll_algorithm coll_neighbor_linear = {
    .name = "linear",
    .summary = "every rank sends its blocks to all neighbours at once",
    .params = {COLL_PARAM_SEGMENT("most bytes of a block that are sent at a time", 64 << 10)},
    .applicable = is_applicable,
    .predict = predict,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
