/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairwise for blocks whose sizes differ by rank (MPI_Alltoallv): a rank knows only the sizes of
 * the blocks that it sends and receives itself.
 *
 * 1. Blocks take turns as in pairwise.c, but empty blocks take none. Small blocks come first,
 *    several in a round: a port's buffer holds one of them from every rank, so they need no
 *    request, and no long block delays them.
 * 2. A rank's sends and its receives are separate streams of rounds, one of each for the even turns
 *    and one of each for the odd turns. So two ranks can exchange long blocks at the same time
 *    although these blocks have different turns, and a rank that waits for one block goes on with
 *    others.
 * 3. If none of a rank's blocks is more than about twice as long as the mean of its blocks in the
 *    same direction (empty blocks count, too), the rank makes its sends and its receives of a turn
 *    together, as in pairwise.c: then all ranks are in about the same turn, and uplinks are equally
 *    busy.
 *
 * There is no deadlock, even if only some ranks proceed as in 3: all ranks order blocks in the same
 * way, small ones first, then by turn. The first incomplete block in this order waits for no other
 * block at either rank.
 *
 * Steps: a round for each segment of the long blocks sent or received, and a few for the small
 * ones. Bytes: each block crosses uplinks once. Memory: two segments for each round of the window
 * of every stream.
 * Source: schedules by distance (turns.h); the streams are ours.
 */
#include "config.h"

#include "lib/alltoall/pairwise.h"
#include "lib/alltoall/turns.h"

/* Streams of rounds: a block of a direction and a turn is in stream DIRECTION + 2 (TURN mod 2). */
enum { RECEIVES, SENDS, DIRECTIONS, STREAMS = 2 * DIRECTIONS };
_Static_assert((int)STREAMS <= (int)COLL_STREAMS_MOST, "a plan has so many streams");

/* Most small blocks of a round, and most messages of a round of long blocks. */
enum { TOGETHER = 8, MESSAGES = 4 };
enum { SEGMENTS = 2 }; /* of a round */

/* A block that this rank sends or receives. */
typedef struct listed {
    int position;   /* of the other rank */
    uint64_t first; /* first round of the block in its stream */
} listed;

/* The blocks of one direction and of the even or the odd turns, in the order of their rounds. The
 * first SMALL of them are small. */
typedef struct list {
    int small, count;
    uint64_t small_rounds, rounds; /* rounds of the small blocks, and of all blocks */
    listed *blocks;
} list;

typedef struct unequal_plan {
    coll_plan base;
    size_t under_way; /* most bytes that a stream has requested and not received */
    size_t small;     /* most bytes of a small block; 0: there are none */
    int together;     /* small blocks of a round */
    bool in_step;     /* each round of stream 0 moves long blocks of one turn in both directions */
    list lists[STREAMS];
} unequal_plan;

static size_t bytes_of(const coll_plan_args *args, int direction, int position) {
    return coll_plan_args_block(args, direction == SENDS ? args->input : args->blocks, position);
}

/* --- Lists of blocks --- */

/* Adds a block of BYTES to or from POSITION, if there is one. */
static void add_block(const unequal_plan *plan, list *blocks, int position, size_t bytes) {
    if (bytes == 0)
        return;
    blocks->blocks[blocks->count++] = (listed){position, blocks->rounds};
    if (bytes <= plan->small)
        blocks->small++;
    else
        blocks->rounds += coll_segment_count(bytes, plan->base.size.segment);
}

/* Makes the next blocks of both directions begin in the same round. */
static void align_rounds(list lists[DIRECTIONS]) {
    lists[RECEIVES].rounds = lists[SENDS].rounds =
        lists[RECEIVES].rounds > lists[SENDS].rounds ? lists[RECEIVES].rounds : lists[SENDS].rounds;
}

/* Adds the small blocks of all turns if SMALL, else the other blocks. */
static void add_blocks(unequal_plan *plan, const coll_turn turns[], int count, bool small) {
    const coll_plan_args *args = plan->base.args;
    for (int i = 0; i < count; i++) {
        list *lists = &plan->lists[small || !plan->in_step ? turns[i].number % 2 * DIRECTIONS : 0];
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            const int position = direction == SENDS ? turns[i].to : turns[i].from;
            const size_t bytes = bytes_of(args, direction, position);
            if ((bytes <= plan->small) == small)
                add_block(plan, &lists[direction], position, bytes);
        }
        if (!small && plan->in_step)
            align_rounds(lists);
    }
}

/* Lists this rank's blocks, small ones first. */
static void list_blocks(unequal_plan *plan, const coll_turn turns[], int count) {
    add_blocks(plan, turns, count, true);
    for (int stream = 0; stream < STREAMS; stream++) {
        list *blocks = &plan->lists[stream];
        if (blocks->small > 0)
            blocks->small_rounds =
                coll_segment_count((size_t)blocks->small, (size_t)plan->together);
        blocks->rounds = blocks->small_rounds;
    }
    if (plan->in_step)
        align_rounds(plan->lists);
    add_blocks(plan, turns, count, false);
}

/* Returns whether no block of DIRECTION is more than about twice as long as the mean of the blocks
 * of DIRECTION. */
static bool are_similar(const unequal_plan *plan, int direction) {
    const coll_plan_args *args = plan->base.args;
    const int ranks = args->shape->topo->ranks;
    size_t all = 0, longest = 0;
    for (int i = 0; i < ranks; i++) {
        const size_t bytes = i == args->line->position ? 0 : bytes_of(args, direction, i);
        all += bytes;
        longest = bytes > longest ? bytes : longest;
    }
    return longest / 2 <= all / (size_t)ranks;
}

/* --- Rounds --- */

/* Writes the messages of the small blocks that ROUND of a stream moves. */
static int move_small_blocks(const unequal_plan *plan, int stream, uint64_t round,
                             coll_step steps[]) {
    const coll_plan_args *args = plan->base.args;
    const list *blocks = &plan->lists[stream];
    const int direction = stream % DIRECTIONS;
    int count = 0;
    for (int i = (int)round * plan->together; i < blocks->small && count < plan->together; i++) {
        const int position = blocks->blocks[i].position;
        coll_step *step = &steps[count];
        *step =
            coll_step_message(direction == SENDS ? COLL_STEP_SEND : COLL_STEP_RECEIVE,
                              args->line->order[position], 0, bytes_of(args, direction, position));
        step->buffer = direction == SENDS ? COLL_INPUT : COLL_DATA;
        step->block = position;
        step->at = (size_t)count++ * plan->small;
    }
    return count;
}

/* Returns the segment of a long block that ROUND of STREAM moves, if there is one. */
static coll_pairwise_part find_part(const unequal_plan *plan, int stream, uint64_t round) {
    const list *blocks = &plan->lists[stream];
    const size_t segment = plan->base.size.segment;
    int low = blocks->small, high = blocks->count - 1;
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (blocks->blocks[middle].first > round)
            high = middle - 1;
        else
            low = middle;
    }
    if (low > high || round < blocks->blocks[low].first)
        return (coll_pairwise_part){.position = COLL_NOBODY};
    const listed *block = &blocks->blocks[low];
    const size_t bytes = bytes_of(plan->base.args, stream % DIRECTIONS, block->position);
    const uint64_t i = round - block->first;
    if (i >= coll_segment_count(bytes, segment))
        return (coll_pairwise_part){.position = COLL_NOBODY};
    return (coll_pairwise_part){.position = block->position,
                                .range = coll_segment_at(bytes, segment, i),
                                .requested =
                                    i == 0 && bytes > coll_pairwise_unasked(plan->base.args)};
}

/* Delays the request of ROUND until all data in flight in its stream, including the data of ROUND,
 * fits the window. */
static void delay_request(const unequal_plan *plan, int stream, uint64_t round,
                          coll_step *request) {
    const int window = plan->base.size.window / STREAMS;
    const uint64_t before = round - plan->lists[stream].small_rounds; /* of long blocks */
    size_t under_way = find_part(plan, stream, round).range.length;
    for (int back = 1; back < window && (uint64_t)back <= before; back++) {
        const size_t bytes = find_part(plan, stream, round - (uint64_t)back).range.length;
        under_way += bytes;
        if (bytes > 0 && under_way > plan->under_way) {
            coll_step_pace(request, back * STREAMS, 0);
            return;
        }
    }
}

/* Writes the receive of a segment, if there is one, and its request. */
static int receive_part(const unequal_plan *plan, int stream, uint64_t round, coll_step steps[]) {
    const coll_pairwise_part now = find_part(plan, stream, round);
    const int count = coll_pairwise_receive(plan->base.args, &now, steps);
    if (count == 2)
        delay_request(plan, stream, round, &steps[1]);
    return count;
}

/* Writes the send of a segment, if there is one. FIRST is the number of earlier steps of the round.
 */
static int send_part(const unequal_plan *plan, int stream, uint64_t round, int first,
                     coll_step steps[]) {
    const coll_pairwise_part now = find_part(plan, stream, round);
    return coll_pairwise_send(plan->base.args, &now, first, steps);
}

static int plan_round(const coll_plan *base, uint64_t nth, coll_step steps[]) {
    const unequal_plan *plan = (const unequal_plan *)base;
    const int stream = (int)(nth % STREAMS);
    const uint64_t round = nth / STREAMS;
    if (round < plan->lists[stream].small_rounds)
        return move_small_blocks(plan, stream, round, steps);
    if (!plan->in_step)
        return stream % DIRECTIONS == RECEIVES ? receive_part(plan, stream, round, steps)
                                               : send_part(plan, stream, round, 0, steps);
    if (stream != 0)
        return 0;
    const int receives = receive_part(plan, RECEIVES, round, steps);
    return receives + send_part(plan, SENDS, round, receives, &steps[receives]);
}

/* --- The plan --- */

/* Returns the number of small blocks that fit SEGMENT bytes; at most TOGETHER. */
static int count_together(const coll_plan_args *args, size_t segment) {
    const size_t small = coll_pairwise_unasked(args);
    return small ? (int)coll_least(segment / small, TOGETHER) : 0;
}

/* Returns the bytes of a segment; fewer than the user asked for if all segments in flight would
 * take too much memory. */
static size_t segment_of(const coll_plan_args *args) {
    return coll_segment_within(args->shape, coll_pairwise_segment(args),
                               STREAMS * SEGMENTS * (size_t)coll_pairwise_rounds(args));
}

coll_plan_size coll_pairwise_unequal_size(const coll_plan_args *args) {
    const size_t ranks = (size_t)args->shape->topo->ranks, segment = segment_of(args);
    const int together = count_together(args, segment);
    return (coll_plan_size){
        .window = STREAMS * coll_pairwise_rounds(args),
        .streams = STREAMS,
        .steps = together > MESSAGES ? together : MESSAGES,
        .segments = SEGMENTS,
        .segment = segment,
        .own_bytes = sizeof(unequal_plan) +
                     ranks * (STREAMS * sizeof(listed) + sizeof(coll_turn) + sizeof(coll_seat))};
}

coll_plan *coll_pairwise_unequal_plan(const coll_plan_args *args, coll_plan_size size,
                                      void *memory) {
    unequal_plan *plan = memory;
    const size_t ranks = (size_t)args->shape->topo->ranks;
    *plan = (unequal_plan){.base = coll_plan_of(args, size, 0, plan_round)};
    plan->under_way = coll_pairwise_window(args) * segment_of(args);
    plan->together = count_together(args, size.segment);
    plan->small = plan->together ? coll_pairwise_unasked(args) : 0;
    plan->in_step = are_similar(plan, RECEIVES) && are_similar(plan, SENDS);
    for (size_t stream = 0; stream < STREAMS; stream++)
        plan->lists[stream].blocks = (listed *)(plan + 1) + stream * ranks;
    coll_turn *turns = (coll_turn *)(plan->lists[0].blocks + STREAMS * ranks);
    list_blocks(plan, turns, coll_turns_find(args, (coll_seat *)(turns + ranks), turns));
    for (int stream = 0; stream < STREAMS; stream++)
        if (STREAMS * plan->lists[stream].rounds > plan->base.rounds)
            plan->base.rounds = STREAMS * plan->lists[stream].rounds;
    return &plan->base;
}
