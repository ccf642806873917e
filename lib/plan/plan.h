/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plan: what one rank does in a collective operation, as rounds of steps. An algorithm makes the
 * plan as a pure function of what all ranks know of the call, of the rank's number and, if counts
 * differ, of the rank's own counts. Making a plan never waits and never calls MPI. The engine, the
 * simulator, the prover and the drawer work with any plan.
 *
 * - A step sends or receives a range of bytes or an empty message, copies, or combines operands
 *   with the call's MPI_Op. A step may depend on steps of its own round or of earlier rounds: it
 *   starts when these steps are complete.
 * - At most WINDOW rounds are under way: round r begins when round r - WINDOW and all rounds before
 *   that are complete. So a plan of any length needs bounded memory.
 * - A plan may have S streams of rounds: round r belongs to stream r % S. Each stream has its share
 *   of the window, and no stream waits for another. Steps depend only on steps of their own stream,
 *   and all messages of one direction on one lane to or from one peer are in one stream.
 * - On one lane, a rank starts its sends to one peer in the order of its plan, and its receives
 *   from one peer as well. So the nth message that is sent is the nth that is received. The plans
 *   of both ranks must have the same messages, with the same lengths.
 */
#ifndef COLL_LIB_PLAN_PLAN_H
#define COLL_LIB_PLAN_PLAN_H

#include "lib/algorithm/rank_order.h"
#include "lib/base/blocks.h"
#include "lib/pattern/block.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COLL_STEP_AFTER = 3, /* most dependencies of a step (see also after_earlier) */
    COLL_LANES = 3
};

typedef enum coll_step_kind {
    COLL_STEP_SEND,
    COLL_STEP_RECEIVE,
    COLL_STEP_COPY,   /* copies from the data or the input to scratch memory, from scratch memory to
                         the data, or within scratch memory */
    COLL_STEP_COMBINE /* combines a range of the data, the input or scratch memory with a range of
                         scratch memory; the result replaces one of the two (never the input) */
} coll_step_kind;

/* Where bytes are. The data is what a rank has at the end; the input is its contribution, if that
 * is in separate memory. */
typedef enum coll_buffer { COLL_DATA, COLL_INPUT, COLL_SCRATCH } coll_buffer;

/* A dependency on step STEP of the round BACK rounds before (at most COLL_BACK_MOST). */
enum { COLL_BACK_MOST = INT16_MAX };
typedef struct coll_after {
    int step;
    int16_t back;
    bool paces; /* only limits congestion: the result would be correct without it */
} coll_after;

/*
 * A step moves or combines LENGTH bytes; whole elements if the call has an MPI_Op. The data is one
 * block, or has a block for each rank in chain order; the same is true of the input. If there is a
 * block for each rank, BLOCK is a position in the chain order; in a neighbourhood collective it is
 * the number of an edge of this rank. FROM counts from the start of that block. If all blocks have
 * the same length, a range may extend into the following blocks. The input is only read.
 *
 * While a round is under way it has SEGMENTS segments of scratch memory. A step on scratch memory
 * uses the bytes at AT in its SEGMENT. If a combination has both operands in scratch memory, the
 * second range is at FROM in segment BLOCK. A copy within scratch memory copies the bytes at FROM
 * in segment BLOCK to AT. A combination leaves the bytes at AT undefined unless they are its first
 * operand or get its result. Messages whose data is not contiguous are also packed at AT in their
 * segment. Two ranges of a round in one segment must be disjoint or equal.
 *
 * Plans must not write bytes while a send of them is under way, nor read or write bytes while a
 * receive into them is.
 */
typedef struct coll_step {
    coll_step_kind kind;
    coll_buffer buffer; /* in a copy or a combination: of the operand that isn't at AT */
    int peer;           /* rank */
    int lane;
    int block;           /* position in the chain order, edge, or segment (see above) */
    int segment;         /* index within the round */
    size_t from, length; /* bytes; length 0: an empty message */
    size_t at;           /* offset in the segment */
    bool to_scratch;     /* the result goes to the bytes at AT; else to BUFFER */
    bool scratch_first;  /* the bytes at AT are the first operand, to keep operands in rank order */
    bool after_earlier;  /* depends on all earlier steps of its round */
    int afters;
    coll_after after[COLL_STEP_AFTER];
} coll_step;

/* Plans make many steps. Compilers clear larger structs with a loop, which doubles planning time.
 */
_Static_assert(sizeof(coll_step) <= 80, "a step is short");

/* The sizes of a plan; the same for all ranks of a call. */
enum { COLL_STREAMS_MOST = 4 };
typedef struct coll_plan_size {
    int window;          /* rounds; a multiple of the streams */
    int streams;         /* 0: one */
    int steps;           /* most steps of a round */
    int segments;        /* of a round */
    size_t segment;      /* most bytes of a segment */
    size_t own_bytes;    /* memory of the plan itself */
    size_t making_bytes; /* further memory, behind that, needed only while the plan is made */
} coll_plan_size;

typedef struct coll_plan coll_plan;

/* Writes the steps of ROUND, in order, and returns their number. */
typedef int coll_round(const coll_plan *plan, uint64_t round, coll_step steps[]);

struct coll_plan {
    coll_plan_size size;
    const struct coll_plan_args *args;
    uint64_t rounds;
    coll_round *round;
};

/* The arguments of planning: one rank's part in a call. A plan keeps a pointer to its arguments. */
typedef struct coll_plan_args {
    const coll_shape *shape;
    const coll_values *values;
    const coll_rank_order *line; /* the ranks in chain order, and this rank's position */
    size_t own; /* bytes of this rank's data or, in a neighbourhood collective, of its input; 0 if
                   that buffer has blocks */
    const coll_blocks *blocks; /* of the data; NULL: it is one piece */
    const coll_blocks *input;  /* of the input; NULL: it is one piece */
} coll_plan_args;

/* Returns a plan of ARGS with ROUNDS rounds (0 if they are set later). */
static inline coll_plan coll_plan_of(const coll_plan_args *args, coll_plan_size size,
                                     uint64_t rounds, coll_round *round) {
    return (coll_plan){.size = size, .args = args, .rounds = rounds, .round = round};
}

/* Writes a plan like that of coll_plan_of to MEMORY and returns it, for algorithms whose plans have
 * no members of their own. */
static inline coll_plan *coll_plan_make(const coll_plan_args *args, coll_plan_size size,
                                        void *memory, uint64_t rounds, coll_round *round) {
    coll_plan *plan = memory;
    *plan = coll_plan_of(args, size, rounds, round);
    return plan;
}

/* Returns the size in bytes of the block at POSITION. BLOCKS are the blocks of ARGS's data or
 * input; NULL if that buffer is one piece, of the shape's bytes. */
static inline size_t coll_plan_args_block(const coll_plan_args *args, const coll_blocks *blocks,
                                          int position) {
    return blocks ? coll_blocks_bytes(blocks, args->line->order[position]) : args->shape->bytes;
}

/* Returns whether a UNIT begins at POSITION of the chain order. */
static inline bool coll_plan_args_begins(const coll_plan_args *args, int position, coll_unit unit) {
    return coll_rank_order_begins(args->line, args->shape->topo, position, unit);
}

/* Returns the number of ranks of the UNIT that begins at position FIRST. */
static inline int coll_plan_args_ranks(const coll_plan_args *args, int first, coll_unit unit) {
    int end = first + 1;
    while (end < args->shape->topo->ranks && !coll_plan_args_begins(args, end, unit))
        end++;
    return end - first;
}

static inline int coll_plan_streams(const coll_plan_size *size) {
    return size->streams ? size->streams : 1;
}

/* Returns the least window of at least ROUNDS rounds (which must fit an int) for plans of SIZE. */
static inline int coll_plan_window(const coll_plan_size *size, uint64_t rounds) {
    const uint64_t streams = (uint64_t)coll_plan_streams(size);
    return (int)(rounds ? (rounds + streams - 1) / streams * streams : streams);
}

/* An algorithm's functions for planning. */
typedef struct coll_planner {
    /* Returns the sizes, which are the same for all ranks of a call. */
    coll_plan_size (*size)(const coll_plan_args *args);
    /* Makes the plan of SIZE in MEMORY, which has OWN_BYTES + MAKING_BYTES. */
    coll_plan *(*plan)(const coll_plan_args *args, coll_plan_size size, void *memory);
    /* Returns whether the algorithm needs no plan if its parameters are VALUES; NULL if it always
     * needs one. */
    bool (*unplanned)(const coll_values *values);
} coll_planner;

/* Defines the planner NAME, which calls SIZE_OF and PLAN_OF with VARIANT as their last argument. */
#define COLL_PLANNER(name, size_of, plan_of, variant)                                              \
    static coll_plan_size name##_size(const coll_plan_args *args) {                                \
        return size_of(args, variant);                                                             \
    }                                                                                              \
    static coll_plan *name##_plan(const coll_plan_args *args, coll_plan_size size, void *memory) { \
        return plan_of(args, size, memory, variant);                                               \
    }                                                                                              \
    static const coll_planner name = {.size = name##_size, .plan = name##_plan}

/* Returns the planner of ALGORITHM with VALUES; NULL if it runs without a plan. */
static inline const coll_planner *coll_planner_of(const coll_algorithm *algorithm,
                                                  const coll_values *values) {
    const coll_planner *planner = algorithm->planner;
    return planner && planner->unplanned && planner->unplanned(values) ? NULL : planner;
}

/* Sets the step's members one by one, so that compilers don't build a temporary: plans make many
 * steps. */
static inline coll_step coll_step_of(coll_step_kind kind, size_t from, size_t length) {
    coll_step step = {0};
    step.kind = kind;
    step.from = from;
    step.length = length;
    return step;
}

static inline coll_step coll_step_message(coll_step_kind kind, int peer, size_t from,
                                          size_t length) {
    coll_step step = coll_step_of(kind, from, length);
    step.peer = peer;
    return step;
}

static inline coll_step coll_step_send(int peer, size_t from, size_t length) {
    return coll_step_message(COLL_STEP_SEND, peer, from, length);
}

static inline coll_step coll_step_receive(int peer, size_t from, size_t length) {
    return coll_step_message(COLL_STEP_RECEIVE, peer, from, length);
}

/* Returns a step that copies from BUFFER to scratch memory if TO_SCRATCH, else back to BUFFER. */
static inline coll_step coll_step_copy(coll_buffer buffer, size_t from, size_t length,
                                       bool to_scratch) {
    coll_step step = coll_step_of(COLL_STEP_COPY, from, length);
    step.buffer = buffer;
    step.to_scratch = to_scratch;
    return step;
}

/* Returns a step that combines BUFFER with scratch memory. */
static inline coll_step coll_step_combine(coll_buffer buffer, size_t from, size_t length,
                                          bool to_scratch, bool scratch_first) {
    coll_step step = coll_step_copy(buffer, from, length, to_scratch);
    step.kind = COLL_STEP_COMBINE;
    step.scratch_first = scratch_first;
    return step;
}

static inline bool coll_step_is_message(const coll_step *step) {
    return step->kind == COLL_STEP_SEND || step->kind == COLL_STEP_RECEIVE;
}

/* Adds a dependency on step WHICH of the round BACK rounds before; none if WHICH is negative. */
static inline void coll_step_after(coll_step *step, int back, int which) {
    if (which >= 0)
        step->after[step->afters++] = (coll_after){.back = (int16_t)back, .step = which};
}

/* Adds a dependency that only limits congestion. */
static inline void coll_step_pace(coll_step *step, int back, int which) {
    step->after[step->afters++] = (coll_after){.back = (int16_t)back, .step = which, .paces = true};
}

/* Returns BYTES rounded down to whole elements of SHAPE, at least one. */
static inline size_t coll_segment_of(const coll_shape *shape, size_t bytes) {
    size_t element = shape->element ? shape->element : 1;
    return bytes < element ? element : bytes / element * element;
}

/* Returns the byte at which share I begins if BYTES are divided into P shares of whole elements, as
 * evenly as possible. For I == P, returns the end of the last share. */
static inline size_t coll_share_start(const coll_shape *shape, size_t bytes, int p, int i) {
    size_t element = shape->element ? shape->element : 1;
    return coll_block_start(bytes / element, p, i) * element;
}

typedef struct coll_range {
    size_t from, length; /* bytes */
} coll_range;

/* Returns share I if BYTES are divided into P shares, as in coll_share_start. */
static inline coll_range coll_share(const coll_shape *shape, size_t bytes, int p, int i) {
    size_t element = shape->element ? shape->element : 1, all = bytes / element;
    return (coll_range){coll_block_start(all, p, i) * element,
                        coll_block_length(all, p, i) * element};
}

/* Returns the bytes of segment I if BYTES are divided into segments of SEGMENT bytes. */
static inline size_t coll_segment_length(size_t bytes, size_t segment, uint64_t i) {
    size_t left = bytes - (size_t)i * segment;
    return left < segment ? left : segment;
}

static inline coll_range coll_segment_at(size_t bytes, size_t segment, uint64_t i) {
    return (coll_range){(size_t)i * segment, coll_segment_length(bytes, segment, i)};
}

/* Returns the number of segments; 0 if there are no bytes. */
static inline uint64_t coll_segment_count(size_t bytes, size_t segment) {
    return bytes ? (bytes - 1) / segment + 1 : 0;
}

static inline size_t coll_least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Returns the user's segment: whole elements, at most the shape's bytes. */
static inline size_t coll_segment_given(const coll_plan_args *args) {
    return coll_least(coll_segment_of(args->shape, args->values->at[COLL_SEGMENT]),
                      args->shape->bytes);
}

/* Returns the size of the parts if ALL is divided evenly into the fewest parts of at most MOST, so
 * that the last part is not much shorter. At least 1. */
static inline size_t coll_even(size_t all, size_t most) {
    const uint64_t parts = coll_segment_count(all, most);
    return parts ? (all - 1) / (size_t)parts + 1 : 1;
}

/* Returns the size of segments if LONGEST bytes are divided evenly into the fewest segments of at
 * most MOST bytes. The size is whole elements, at least one, even if an element has more than MOST
 * bytes. At least 1. */
static inline size_t coll_segment_even(const coll_shape *shape, size_t longest, size_t most) {
    most = coll_segment_of(shape, most);
    size_t even = coll_even(longest, most), element = shape->element;
    if (longest == 0)
        return 1;
    return coll_least(coll_segment_of(shape, even + (element ? element - 1 : 0)), most);
}

/* How blocks travel around a ring. */
typedef struct coll_block_flow {
    size_t segment;  /* bytes */
    uint64_t window; /* segments in flight */
} coll_block_flow;

/* Returns the user's window, and the user's segment or less, for blocks of at most LONGEST bytes.
 * If LONGEST is more than twice the mean, segments have at most a quarter of the mean (4 KB if the
 * quarter is less), so that many ranks forward parts of the longest block at the same time. The
 * window is then enlarged to about the same number of bytes, but to at most 1024 segments. */
static inline coll_block_flow coll_block_flow_of(const coll_plan_args *args, size_t longest) {
    enum { SHORT = 4 << 10, MOST = 1 << 10 };
    const size_t asked = args->values->at[COLL_SEGMENT], mean = args->shape->bytes,
                 few = mean / 4 > SHORT ? mean / 4 : SHORT,
                 whole = coll_segment_even(args->shape, longest, asked);
    coll_block_flow flow = {whole, args->values->at[COLL_WINDOW]};
    if (longest / 2 > mean && few < whole) {
        flow.segment = coll_segment_even(args->shape, longest, few);
        flow.window = coll_least(flow.window * (whole / flow.segment), MOST);
    }
    return flow;
}

/* Returns the size of chunks if the shape's bytes are divided evenly into chunks of a multiple of
 * LEAST bytes: at most the user's segment, unless that is below LEAST. */
static inline size_t coll_chunk_of(const coll_plan_args *args, size_t least) {
    const size_t all = (size_t)coll_segment_count(args->shape->bytes, least),
                 asked = args->values->at[COLL_SEGMENT] / least;
    return least * coll_even(all, asked ? asked : 1);
}

#endif
