/*
 * bruck: in each of ceil(log2 p) rounds a rank sends about half of all blocks, in one message.
 *
 * A block that goes to the rank o positions further on goes there by the binary digits of o: in the
 * round of distance d, a power of two, a rank sends all that it holds whose o has that digit to the
 * one d further on. What it holds on its way to others has the place in its data where a block that
 * comes from so far will be in the end; so it takes no other memory, and nothing is moved at last.
 *
 * Bytes: m p/2 from every rank and to it in each round: m p/2 ceil(log2 p). Over an uplink, of a
 * rack of n ranks, n m p/2 in each round of a distance of n or more. Memory: two messages.
 * Sources: Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications
 * in multiport message-passing systems. Traeff, Rougier, Hunold: Implementing a classic: zero-copy
 * all-to-all communication with MPI datatypes.
 */
#include "config.h"

#include "lib/alltoall/alltoall.h"
#include "lib/pattern/binomial.h"
#include "lib/schedule/plan.h"

/* Bytes of all blocks of a rank. */
static const size_t BYTES_MOST = 4 << 20;

/* The block that goes, or has come, FAR positions, where it is before the round of DISTANCE. */
static coll_step copy(const coll_part *part, int far, int distance, bool to_scratch) {
    int ranks = part->shape->topo->ranks, own = part->line->position;
    bool is_new = to_scratch && far % distance == 0;
    coll_step step =
        coll_step_copy(is_new ? COLL_INPUT : COLL_DATA, 0, part->shape->bytes, to_scratch);
    step.block = is_new ? (own + far) % ranks : (own - far + ranks) % ranks;
    step.segment = !to_scratch;
    return step;
}

/* Copies of all that move in the round of DISTANCE. */
static int copies(const coll_part *part, int distance, bool to_scratch, coll_step steps[]) {
    int count = 0;
    for (int far = distance; far < part->shape->topo->ranks; far++) {
        if (!(far & distance))
            continue;
        steps[count] = copy(part, far, distance, to_scratch);
        steps[count].at = (size_t)count * part->shape->bytes;
        count++;
    }
    return count;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_part *part = base->part;
    int ranks = part->shape->topo->ranks, own = part->line->position, distance = 1 << round,
        count = copies(part, distance, true, steps);
    size_t length = (size_t)count * part->shape->bytes;
    coll_step *send = &steps[count], *receive = send + 1;
    *send = coll_step_send(part->line->order[(own + distance) % ranks], 0, length);
    *receive = coll_step_receive(part->line->order[(own - distance + ranks) % ranks], 0, length);
    send->buffer = receive->buffer = COLL_SCRATCH;
    send->after_earlier = true;
    receive->segment = 1;
    copies(part, distance, false, receive + 1);
    for (int i = 1; i <= count; i++)
        coll_step_after(&receive[i], 0, count + 1);
    return 2 * count + 2;
}

static coll_plan_size plan_size(const coll_part *part) {
    int most = part->shape->topo->ranks / 2;
    return (coll_plan_size){.window = 1,
                            .steps = 2 * most + 2,
                            .segments = 2,
                            .segment = (size_t)most * part->shape->bytes,
                            .own_bytes = sizeof(coll_plan)};
}

static coll_plan *make_plan(const coll_part *part, coll_plan_size size, void *memory) {
    coll_plan *plan = memory;
    *plan =
        coll_plan_of(part, size, (uint64_t)coll_tree_depth(part->shape->topo->ranks), plan_round);
    return plan;
}

static bool is_short(const coll_shape *call) {
    return call->bytes <= BYTES_MOST / (size_t)call->topo->ranks;
}

const coll_algorithm coll_alltoall_bruck = {
    .name = "bruck",
    .summary = "blocks go in log2 p rounds, many in one message",
    .applicable = is_short,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
