/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tuna: short blocks of unequal sizes in ceil(log_r p) rounds, r the radix; for calls in which
 * nearly all ranks have short blocks for nearly all others.
 *
 * 1. Blocks of at most PACKED bytes travel as in bruck.c, by the digits of their distance. A
 *    message begins with the lengths of its blocks, since ranks that forward blocks don't know
 *    these lengths; the blocks follow. The receiver has memory for the longest possible message, so
 *    that lengths need no message of their own.
 * 2. Longer blocks are exchanged as in pairwise.c: both ranks know their lengths.
 *
 * Every rank takes part in all rounds, even if it has nothing to send, because no rank knows which
 * blocks others have. If most blocks are empty, pairwise takes less time; so tuna runs only if the
 * user names it.
 *
 * Steps: (r - 1) messages in each round. Bytes: a short block and its two bytes of length once for
 * each digit that is not 0. Memory: PACKED bytes for each rank, and 2 (r - 1) messages of about
 * p / r such blocks.
 *
 * Source: Fan, Domke, Ba, Kumar: Configurable non-uniform all-to-all algorithms, 2024, whose TuNA
 * sends lengths in messages of their own.
 */
#include "config.h"

#include "lib/algorithm/spec.h"
#include "lib/alltoall/alltoall.h"
#include "lib/base/error.h"
#include "lib/pattern/radix.h"
#include "lib/plan/engine.h"
#include "lib/plan/tuned.h"
#include "lib/sim/estimate.h"

#include <string.h>

enum { PACKED = COLL_RADIX + 1 };

typedef uint16_t length; /* bytes of a short block */

typedef struct tuna {
    coll_task task;
    coll_exec_args call;
    int ranks, own, radix;
    int distance;           /* of this round */
    size_t packed, message; /* most bytes of a packed block, and of a message */
    /* LENGTHS and SLOTS: the length and the bytes of each block in transit, by the distance from
     * the block's source to its destination */
    length *lengths;
    char *slots, *sent, *received;
    coll_task rounds; /* initial state of TASK, for the rounds of the short blocks */
    coll_task *rest;  /* the task of the long blocks, with VALUES, BLOCKS and INPUT */
    coll_values values;
    coll_blocks blocks, input;
} tuna;

/* --- Sizes, the same on all ranks --- */

static size_t packed_of(const coll_plan_args *args) {
    return coll_segment_within(args->shape, args->values->at[PACKED],
                               (size_t)args->shape->topo->ranks);
}

/* Returns the most messages that a rank sends in a round. */
static int others_of(const coll_plan_args *args) {
    return (int)coll_least((size_t)coll_radix_asked(args), (size_t)args->shape->topo->ranks) - 1;
}

static size_t message_of(const coll_plan_args *args) {
    return coll_scratch_bytes(
        (size_t)coll_radix_most_ones(args->shape->topo->ranks, coll_radix_asked(args)) *
        (sizeof(length) + packed_of(args)));
}

/* --- Rounds --- */

/* Returns the next distance after FAR that has the same digit in this round. The first distance
 * with the digit TIMES is TIMES * t->distance. */
static int next_far(const tuna *t, int far) {
    far++;
    return far % t->distance ? far : far + (t->radix - 1) * t->distance;
}

static int count_blocks(const tuna *t, int times) {
    int count = 0;
    for (int far = times * t->distance; far < t->ranks; far = next_far(t, far))
        count++;
    return count;
}

static char *slot_of(const tuna *t, int far) {
    return t->slots + (size_t)far * t->packed;
}

/* Writes the blocks with the digit TIMES to MESSAGE, and returns its length in bytes. */
static size_t pack(const tuna *t, int times, char *message) {
    length *lengths = (length *)message;
    char *at = message + (size_t)count_blocks(t, times) * sizeof *lengths;
    for (int far = times * t->distance; far < t->ranks; far = next_far(t, far)) {
        *lengths++ = t->lengths[far];
        memcpy(at, slot_of(t, far), t->lengths[far]);
        at += t->lengths[far];
    }
    return (size_t)(at - message);
}

/* Reads the blocks with the digit TIMES from MESSAGE. */
static void unpack(const tuna *t, int times, const char *message) {
    const length *lengths = (const length *)message;
    const char *at = message + (size_t)count_blocks(t, times) * sizeof *lengths;
    for (int far = times * t->distance; far < t->ranks; far = next_far(t, far)) {
        t->lengths[far] = *lengths++;
        memcpy(slot_of(t, far), at, t->lengths[far]);
        at += t->lengths[far];
    }
}

static int begin_round(tuna *t) {
    const int *order = t->call.args.line->order, distance = t->distance,
              rest = (t->ranks - 1) / distance, others = rest < t->radix ? rest : t->radix - 1;
    int code = MPI_SUCCESS;
    t->task.count = 2 * others;
    for (int i = 0; i < others && code == MPI_SUCCESS; i++) {
        const int from = (t->own - (i + 1) * distance + t->ranks) % t->ranks;
        t->task.peers[i] = order[from];
        code = coll_irecv(t->call.comm, t->received + (size_t)i * t->message, (int)t->message,
                          MPI_BYTE, order[from], t->call.tag, &t->task.requests[i]);
        t->task.active += code == MPI_SUCCESS;
    }
    for (int i = 0; i < others && code == MPI_SUCCESS; i++) {
        const int to = (t->own + (i + 1) * distance) % t->ranks;
        char *message = t->sent + (size_t)i * t->message;
        t->task.peers[others + i] = order[to];
        code = coll_isend(t->call.comm, message, (int)pack(t, i + 1, message), MPI_BYTE, order[to],
                          t->call.tag, &t->task.requests[others + i]);
        t->task.active += code == MPI_SUCCESS;
    }
    return code;
}

/* --- Before and after all rounds --- */

/* Returns the length of a short block, and 0 for a long block. */
static length short_length(const tuna *t, const coll_data *block) {
    return block->bytes <= t->packed ? (length)block->bytes : 0;
}

/* Reads this rank's short blocks, by the distance to their destination. */
static void read_blocks(tuna *t) {
    const coll_plan_args *args = &t->call.args;
    for (int far = 1; far < t->ranks; far++) {
        const coll_data block =
            coll_blocks_at(args->input, args->line->order[(t->own + far) % t->ranks]);
        char *slot = slot_of(t, far);
        t->lengths[far] = short_length(t, &block);
        if (t->lengths[far] == 0)
            continue;
        const char *bytes = coll_data_read(&block, 0, t->lengths[far], slot);
        if (bytes != slot)
            memcpy(slot, bytes, t->lengths[far]);
    }
}

/* Writes the short blocks for this rank, by the distance from their source. */
static int write_blocks(const tuna *t) {
    const coll_plan_args *args = &t->call.args;
    for (int far = 1; far < t->ranks; far++) {
        const int rank = args->line->order[(t->own - far + t->ranks) % t->ranks];
        const coll_data block = coll_blocks_at(args->blocks, rank);
        if (t->lengths[far] != short_length(t, &block))
            return coll_error(MPI_ERR_TRUNCATE,
                              "alltoall: rank %d sent %u bytes for a block of %zu; give the same "
                              "count on both ranks",
                              rank, t->lengths[far], block.bytes);
        if (t->lengths[far])
            coll_data_write(&block, 0, t->lengths[far], slot_of(t, far));
    }
    return MPI_SUCCESS;
}

/* Copies the state of the long blocks' task, with its requests, to this task. */
static void show_rest(tuna *t) {
    t->task = *t->rest;
    t->task.start = t->rounds.start;
    t->task.handle_completed = t->rounds.handle_completed;
}

/* Begins the next round. After the last one, writes this rank's short blocks and begins to exchange
 * the long blocks. */
static int go_on(tuna *t) {
    if (t->distance < t->ranks)
        return begin_round(t);
    int code = write_blocks(t);
    if (code != MPI_SUCCESS)
        return code;
    code = t->rest->start(t->rest);
    show_rest(t);
    return code;
}

static int start_rounds(coll_task *task) {
    tuna *t = (tuna *)task;
    t->task = t->rounds;
    t->distance = 1;
    read_blocks(t);
    return go_on(t);
}

static int handle_completions(coll_task *task, int count) {
    tuna *t = (tuna *)task;
    if (t->task.requests != t->rounds.requests) {
        int code = t->rest->handle_completed(t->rest, count);
        show_rest(t);
        return code;
    }
    t->task.active -= count;
    if (t->task.active > 0)
        return MPI_SUCCESS;
    for (int i = 0; i < t->task.count / 2; i++)
        unpack(t, i + 1, t->received + (size_t)i * t->message);
    t->distance *= t->radix;
    return go_on(t);
}

/* --- The task --- */

/* Changes CALL to the exchange of the long blocks. Sets BLOCKS, INPUT and VALUES, which must
 * outlive CALL. */
static void keep_long_blocks(coll_exec_args *call, coll_blocks *blocks, coll_blocks *input,
                             coll_values *values) {
    const size_t longer = packed_of(&call->args) + 1;
    *blocks = *call->args.blocks;
    *input = *call->args.input;
    *values = coll_values_default(&coll_alltoall_pairwise);
    blocks->empty_below = input->empty_below = longer;
    call->algorithm = &coll_alltoall_pairwise;
    call->args.blocks = blocks;
    call->args.input = input;
    call->args.values = values;
}

static size_t task_bytes(const coll_exec_args *call) {
    const coll_plan_args *args = &call->args;
    const size_t ranks = (size_t)args->shape->topo->ranks, requests = 2 * (size_t)others_of(args);
    coll_exec_args rest = *call;
    coll_blocks blocks, input;
    coll_values values;
    keep_long_blocks(&rest, &blocks, &input, &values);
    return coll_scratch_bytes(sizeof(tuna)) + coll_scratch_bytes(requests * sizeof(MPI_Request)) +
           coll_scratch_bytes(requests * sizeof(MPI_Status)) +
           2 * coll_scratch_bytes(requests * sizeof(int)) +
           coll_scratch_bytes(ranks * sizeof(length)) +
           coll_scratch_bytes(ranks * packed_of(args)) +
           2 * coll_scratch_bytes(requests / 2 * message_of(args)) + coll_exec_args_bytes(&rest);
}

static coll_task *open_task(const coll_exec_args *call, void *memory) {
    const coll_plan_args *args = &call->args;
    const size_t ranks = (size_t)args->shape->topo->ranks, requests = 2 * (size_t)others_of(args);
    char *scratch = memory;
    tuna *t = coll_scratch_alloc(&scratch, sizeof *t);
    *t = (tuna){.rounds = {.start = start_rounds,
                           .handle_completed = handle_completions,
                           .comm = call->comm},
                .call = *call,
                .ranks = (int)ranks,
                .own = args->line->position,
                .radix = coll_radix_asked(args),
                .packed = packed_of(args),
                .message = message_of(args)};
    t->rounds.requests = coll_scratch_alloc(&scratch, requests * sizeof(MPI_Request));
    t->rounds.statuses = coll_scratch_alloc(&scratch, requests * sizeof(MPI_Status));
    t->rounds.peers = coll_scratch_alloc(&scratch, requests * sizeof(int));
    t->rounds.indices = coll_scratch_alloc(&scratch, requests * sizeof(int));
    t->lengths = coll_scratch_alloc(&scratch, ranks * sizeof *t->lengths);
    t->slots = coll_scratch_alloc(&scratch, ranks * t->packed);
    t->sent = coll_scratch_alloc(&scratch, requests / 2 * t->message);
    t->received = coll_scratch_alloc(&scratch, requests / 2 * t->message);
    for (size_t i = 0; i < requests; i++)
        t->rounds.requests[i] = MPI_REQUEST_NULL;
    coll_exec_args rest = *call;
    keep_long_blocks(&rest, &t->blocks, &t->input, &t->values);
    t->rest = coll_exec_args_open(&rest, scratch);
    t->task = t->rounds;
    return &t->task;
}

/* Returns the predicted time for blocks of equal size, which are all short or all long. */
static double predict(const coll_shape *call, const coll_values *values) {
    const coll_plan_args args = {.shape = call, .values = values};
    coll_shape packed = *call;
    const coll_values pairwise = coll_values_default(&coll_alltoall_pairwise);
    packed.bytes = sizeof(length) + (call->bytes > packed_of(&args) ? 0 : call->bytes);
    const double rounds = coll_estimate(&coll_alltoall_bruck, &packed, values);
    return packed.bytes > sizeof(length)
               ? rounds
               : rounds + coll_estimate(&coll_alltoall_pairwise, call, &pairwise);
}

const coll_algorithm coll_alltoall_tuna = {
    .name = "tuna",
    .summary = "few rounds for short blocks of unequal sizes, packed with their lengths",
    .params = {COLL_PARAM_RADIX("base of the digits: a larger one takes fewer rounds and more "
                                "messages"),
               [PACKED] = {"packed", "bytes of the longest block that is packed", .fallback = 512,
                           .lowest = 1, .highest = UINT16_MAX}},
    .rival = true,
    .predict = predict,
    .bytes = task_bytes,
    .open = open_task,
};
