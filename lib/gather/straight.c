/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/gather/straight.h"

#include "lib/gather/gather.h"

enum { SIGNALS = 1 }; /* lane of the start signals */

/* The messages of all blocks, in chain order, are numbered from 0. */
typedef struct straight_plan {
    coll_plan base;
    coll_straight how;
    /* rank that starts this rank, and rank that this rank starts; -1: none */
    int signal_from, signal_to;
    size_t usual;     /* bytes of the longest message */
    int together;     /* messages in a round of the root */
    uint64_t first[]; /* at the root: number of each position's first message, and the total */
} straight_plan;

static int together_of(const coll_straight *how, size_t usual) {
    return usual ? (int)coll_least(how->segment / usual, (size_t)how->together) : how->together;
}

static int receive_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const straight_plan *plan = (const straight_plan *)base;
    const coll_plan_args *args = plan->base.args;
    uint64_t number = round * (uint64_t)plan->together, end = plan->first[args->shape->topo->ranks];
    int count = 0;
    for (int position = coll_block_with(plan->first, args->shape->topo->ranks, number);
         count < plan->together && number < end; number++, count++) {
        while (plan->first[position + 1] <= number)
            position++;
        int rank = args->line->order[position];
        uint64_t nth = number - plan->first[position];
        coll_step *step = &steps[count];
        *step = coll_step_receive(
            rank, nth * plan->how.segment,
            coll_segment_length(coll_blocks_bytes(args->blocks, rank), plan->how.segment, nth));
        step->block = position;
        step->at = (size_t)count * plan->usual;
    }
    return count;
}

/*
 * Writes a round with one message. The rounds are the signal that starts this rank, the segments,
 * and the signal that starts another rank.
 */
static int send_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const straight_plan *plan = (const straight_plan *)base;
    const coll_straight *how = &plan->how;
    size_t bytes = plan->base.args->own;
    uint64_t begin = plan->signal_from >= 0, end = begin + coll_segment_count(bytes, how->segment),
             sends = (uint64_t)how->sends;
    if (round < begin) {
        steps[0] = coll_step_receive(plan->signal_from, 0, 0);
        steps[0].lane = SIGNALS;
    } else if (round < end) {
        uint64_t nth = round - begin;
        steps[0] = coll_step_send(plan->base.args->line->order[0], nth * how->segment,
                                  coll_segment_length(bytes, how->segment, nth));
        if (nth >= sends)
            coll_step_after(&steps[0], how->sends, 0);
        else if (round == 1 && nth == 0)
            coll_step_after(&steps[0], 1, 0);
    } else {
        steps[0] = coll_step_send(plan->signal_to, 0, 0);
        steps[0].lane = SIGNALS;
        for (uint64_t back = 1; back <= coll_least(round, sends); back++)
            coll_step_after(&steps[0], (int)back, 0);
    }
    return 1;
}

/* If only the root knows the amounts, the plan has memory for any amounts. */
coll_plan_size coll_straight_size(const coll_plan_args *args, const coll_straight *how) {
    size_t ranks = (size_t)args->shape->topo->ranks, bytes = args->shape->bytes,
           usual = coll_least(bytes, how->segment);
    bool even = coll_gather_is_even(args->shape);
    size_t messages = even ? (ranks - 1) * coll_segment_count(bytes, how->segment) : SIZE_MAX;
    size_t together =
        coll_least((size_t)(even ? together_of(how, usual) : how->together), messages);
    return (coll_plan_size){
        .window = (int)coll_least((size_t)how->window, coll_segment_count(messages, together)),
        .steps = (int)together,
        .segments = 1,
        .segment = even ? together * usual : how->segment,
        .own_bytes = sizeof(straight_plan) + (ranks + 1) * sizeof(uint64_t)};
}

/* Completes the root's plan: it receives all blocks except its own. */
static void complete_root_plan(straight_plan *plan) {
    const coll_plan_args *args = plan->base.args;
    int ranks = args->shape->topo->ranks;
    uint64_t next = plan->first[0] = plan->first[1] = 0;
    for (int position = 1; position < ranks; position++) {
        size_t bytes = coll_blocks_bytes(args->blocks, args->line->order[position]);
        next += coll_segment_count(bytes, plan->how.segment);
        plan->first[position + 1] = next;
    }
    plan->usual = coll_least(coll_blocks_longest(args->blocks), plan->how.segment);
    plan->together = together_of(&plan->how, plan->usual);
    plan->base.rounds = coll_segment_count(next, (size_t)plan->together);
    plan->base.round = receive_round;
}

/*
 * Completes the plan of a rank other than the root: it receives a start signal (except the first
 * SENDERS ranks), sends its block, and then sends a start signal (except the last SENDERS ranks).
 */
static void complete_sender_plan(straight_plan *plan) {
    const coll_plan_args *args = plan->base.args;
    const int *order = args->line->order;
    int j = args->line->position, p = args->shape->topo->ranks, w = plan->how.senders;
    plan->signal_from = j > w ? order[j - w] : -1;
    plan->signal_to = w < p - j ? order[j + w] : -1;
    plan->base.rounds = coll_segment_count(args->own, plan->how.segment) +
                        (plan->signal_from >= 0) + (plan->signal_to >= 0);
    plan->base.round = send_round;
}

coll_plan *coll_straight_plan(const coll_plan_args *args, const coll_straight *how,
                              coll_plan_size size, void *memory) {
    straight_plan *plan = memory;
    *plan = (straight_plan){.base = coll_plan_of(args, size, 0, NULL), .how = *how};
    if (args->blocks)
        complete_root_plan(plan);
    else
        complete_sender_plan(plan);
    return &plan->base;
}
