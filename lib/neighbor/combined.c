/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * combined: all blocks from one node to another go in one message; for small blocks and many
 * neighbours on other nodes.
 *
 * 1. Ranks send their blocks for another node to the rank of their own node that sends to that
 *    node. If a rank has one block for all neighbours, it sends the block once for each node.
 * 2. That rank sends all these blocks in one message to a rank of the other node.
 * 3. The rank of the other node sends each block to its destination. Blocks within a node go
 *    directly to their destinations.
 *
 * lib/topology/graph.h says which ranks send and receive the messages between two nodes. They are
 * chosen among the ranks with edges between these nodes, so that a rank without neighbours has
 * nothing to do.
 *
 * Steps: three, of which one is between nodes. Bytes: each block once between nodes, or once to
 * each node if it is for several ranks there; at most as often inside the source's node before
 * that, and at most once to each destination after that. Memory: all blocks that a rank sends,
 * receives or forwards.
 */
#include "config.h"

#include "lib/neighbor/neighbor.h"
#include "lib/plan/plan.h"

/* Upper limit of the memory of a plan and its blocks, in bytes, so that the communicator's scratch
 * memory is enough. */
static const size_t BYTES_MOST = 1 << 20;

/* The only round of the plan, while it is being written. */
typedef struct draft {
    const coll_graph *graph;
    int own, node; /* this rank, and its node */
    bool shares;   /* a source has one block for all its edges */
    size_t block;  /* bytes */
    size_t at;     /* bytes of scratch memory used so far */
    coll_step *steps;
    int count;
} draft;

static size_t take(draft *d, int blocks) {
    const size_t at = d->at;
    d->at += (size_t)blocks * d->block;
    return at;
}

static coll_step *add_step(draft *d, coll_step step, coll_buffer buffer, int block, size_t at) {
    step.buffer = buffer;
    step.block = block;
    step.at = at;
    d->steps[d->count] = step;
    return &d->steps[d->count++];
}

/* Adds the message of block BLOCK of BUFFER, the data or the input. */
static void add_message(draft *d, coll_step_kind kind, int peer, coll_buffer buffer, int block) {
    add_step(d, coll_step_message(kind, peer, 0, d->block), buffer, block, take(d, 1));
}

/* Adds a message of BLOCKS blocks in scratch memory at AT. */
static coll_step *add_scratch(draft *d, coll_step_kind kind, int peer, int blocks, size_t at) {
    return add_step(d, coll_step_message(kind, peer, 0, (size_t)blocks * d->block), COLL_SCRATCH, 0,
                    at);
}

/* Returns whether edge I of BUNDLE has the same block as the edge before. */
static bool has_same_block(const draft *d, const coll_edge_bundle *bundle, int i) {
    const coll_edge *edge = &d->graph->edge[bundle->first + i];
    return d->shares && i > 0 && edge[-1].source == edge->source;
}

static int blocks_of(const draft *d, const coll_edge_bundle *bundle) {
    return d->shares ? bundle->sources : bundle->count;
}

/* Collects the blocks of BUNDLE, which this rank will send, in scratch memory at AT. */
static void collect(draft *d, const coll_edge_bundle *bundle, size_t at) {
    for (int i = 0; i < bundle->count; i++) {
        const coll_edge *edge = &d->graph->edge[bundle->first + i];
        if (has_same_block(d, bundle, i))
            continue;
        if (edge->source == d->own)
            add_step(d, coll_step_copy(COLL_INPUT, 0, d->block, true), COLL_INPUT, edge->out, at);
        else
            add_scratch(d, COLL_STEP_RECEIVE, edge->source, 1, at);
        at += d->block;
    }
}

/* Delivers the blocks of BUNDLE, which are in scratch memory at AT when step ARRIVED is
 * complete. */
static void deliver(draft *d, const coll_edge_bundle *bundle, size_t at, int arrived) {
    for (int i = 0; i < bundle->count; i++) {
        const coll_edge *edge = &d->graph->edge[bundle->first + i];
        if (i > 0 && !has_same_block(d, bundle, i))
            at += d->block;
        coll_step *step = edge->destination == d->own
                              ? add_step(d, coll_step_copy(COLL_DATA, 0, d->block, false),
                                         COLL_DATA, edge->in, at)
                              : add_scratch(d, COLL_STEP_SEND, edge->destination, 1, at);
        coll_step_after(step, 0, arrived);
    }
}

enum { DIRECTLY = -1 };

/* Adds the messages of BUNDLE's blocks from or for this rank. They go to or come from rank VIA,
 * which exchanges the blocks with the other node; if VIA is DIRECTLY, the edges are inside this
 * node, and the blocks go straight from source to destination. */
static void exchange_inside(draft *d, const coll_edge_bundle *bundle, int via) {
    for (int i = 0; i < bundle->count; i++) {
        const coll_edge *edge = &d->graph->edge[bundle->first + i];
        if (edge->destination == d->own)
            add_message(d, COLL_STEP_RECEIVE, via == DIRECTLY ? edge->source : via, COLL_DATA,
                        edge->in);
        if (edge->source == d->own && (via == DIRECTLY || !has_same_block(d, bundle, i)))
            add_message(d, COLL_STEP_SEND, via == DIRECTLY ? edge->destination : via, COLL_INPUT,
                        edge->out);
    }
}

static const coll_edge_bundle *arriving(const draft *d, int a) {
    return &d->graph->bundle[d->graph->arriving[a]];
}

/* Writes the messages to other nodes: collects their blocks, then sends them. */
static void send_outside(draft *d) {
    const coll_graph *graph = d->graph;
    const int first = graph->leaving[d->node], end = graph->leaving[d->node + 1];
    const size_t begin = d->at;
    for (int b = first; b < end; b++)
        if (graph->bundle[b].to != d->node && graph->bundle[b].sender == d->own)
            collect(d, &graph->bundle[b], take(d, blocks_of(d, &graph->bundle[b])));
    if (d->count == 0)
        return;
    add_step(d, coll_step_copy(COLL_SCRATCH, 0, 0, true), COLL_SCRATCH, 0, 0)->after_earlier = true;
    const int collected = d->count - 1;
    size_t at = begin;
    for (int b = first; b < end; b++) {
        const coll_edge_bundle *bundle = &graph->bundle[b];
        if (bundle->to == d->node || bundle->sender != d->own)
            continue;
        coll_step_after(add_scratch(d, COLL_STEP_SEND, bundle->receiver, blocks_of(d, bundle), at),
                        0, collected);
        at += (size_t)blocks_of(d, bundle) * d->block;
    }
}

/*
 * Messages between two ranks of a node must be in the same order on both: blocks for other nodes,
 * then blocks within the node, then blocks from other nodes, each in the order of the bundles.
 */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_plan_args *args = base->args;
    const coll_graph *graph = args->shape->graph;
    const int own = args->line->order[args->line->position],
              node = args->shape->topo->places[own].node;
    draft d = {.graph = graph,
               .own = own,
               .node = node,
               .shares = coll_neighbor_shares(args->shape),
               .block = args->shape->bytes,
               .steps = steps};
    (void)round; /* there is only one */
    send_outside(&d);
    const int received = d.count;
    const size_t arrived = d.at;
    for (int a = graph->first_arriving[node]; a < graph->first_arriving[node + 1]; a++) {
        const coll_edge_bundle *bundle = arriving(&d, a);
        if (bundle->from == node || bundle->receiver != own)
            continue;
        const int blocks = blocks_of(&d, bundle);
        add_scratch(&d, COLL_STEP_RECEIVE, bundle->sender, blocks, take(&d, blocks));
    }
    for (int b = graph->leaving[node]; b < graph->leaving[node + 1]; b++)
        if (graph->bundle[b].to != node && graph->bundle[b].sender != own)
            exchange_inside(&d, &graph->bundle[b], graph->bundle[b].sender);
    for (int b = graph->leaving[node]; b < graph->leaving[node + 1]; b++)
        if (graph->bundle[b].to == node)
            exchange_inside(&d, &graph->bundle[b], DIRECTLY);
    size_t at = arrived;
    int step = received;
    for (int a = graph->first_arriving[node]; a < graph->first_arriving[node + 1]; a++) {
        const coll_edge_bundle *bundle = arriving(&d, a);
        if (bundle->from == node)
            continue;
        if (bundle->receiver != own) {
            exchange_inside(&d, bundle, bundle->receiver);
            continue;
        }
        deliver(&d, bundle, at, step++);
        at += (size_t)blocks_of(&d, bundle) * d.block;
    }
    return d.count;
}

static const coll_graph_load *load_of(const coll_shape *call) {
    return coll_neighbor_shares(call) ? &call->graph->shared : &call->graph->combined;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_graph_load *load = load_of(args->shape);
    return (coll_plan_size){.window = 1,
                            .steps = load->steps,
                            .segments = 1,
                            .segment = (size_t)load->blocks * args->shape->bytes,
                            .own_bytes = sizeof(coll_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_plan_make(args, size, memory, 1, plan_round);
}

/* If blocks differ in size, the ranks that forward a block don't know its size. */
static bool is_applicable(const coll_shape *call) {
    enum { STEP = 512 }; /* bytes of memory that a step takes, about */
    if (!call->graph || call->bytes == COLL_BYTES_UNKNOWN || call->topo->ranks == call->topo->nodes)
        return false;
    const coll_graph_load *load = load_of(call);
    const size_t steps = (size_t)load->steps * STEP;
    return load->remote > 0 && steps < BYTES_MOST &&
           call->bytes <= (BYTES_MOST - steps) / (size_t)load->blocks;
}

/* Returns the time between nodes plus the time of two messages inside a node and of all copies. */
static double predict(const coll_shape *call, const coll_values *values) {
    const coll_graph_load *load = load_of(call);
    const coll_cost *inside = &coll_shape_costs(call)->level[COLL_LEVEL_NODE];
    const double bytes = (double)call->bytes,
                 share = (double)call->topo->most_ranks_per_node / coll_topo_busy_cores(call->topo);
    (void)values;
    return coll_neighbor_seconds(call, load, load->message) + 2 * coll_cost_relay(inside, bytes) +
           load->steps * share * coll_cost_send_gap(inside, bytes) / 2;
}

const coll_algorithm coll_neighbor_combined = {
    .name = "combined",
    .summary = "what goes from one node to another goes in one message",
    .applicable = is_applicable,
    .predict = predict,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
