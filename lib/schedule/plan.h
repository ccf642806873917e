/*
 * A plan: what one rank does in a collective operation, as rounds of steps. An algorithm makes it,
 * as a pure function of what all ranks know of the call, of the rank's own number and, where counts
 * differ, of its own; it never waits and never calls MPI. What runs plans, prices, proves and draws
 * them is written once for all.
 *
 * - A step sends or receives a range of bytes, or an empty message, or copies, or combines by the
 *   call's MPI_Op. It may come after steps of its own round or of earlier ones: it starts once they
 *   are complete.
 * - At most WINDOW rounds are under way: a round begins once the round WINDOW before it and all
 *   earlier ones are complete. So a plan of any length takes bounded memory, and needs no more than
 *   that to say what comes after what.
 * - Messages from one rank to another on one lane start in the order in which both their plans have
 *   them, so the nth sent is the nth received; they must be equally long. There may be no others.
 */
#ifndef COLL_LIB_SCHEDULE_PLAN_H
#define COLL_LIB_SCHEDULE_PLAN_H

#include "lib/algorithm/line.h"
#include "lib/base/blocks.h"
#include "lib/pattern/block.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COLL_STEP_AFTER = 3, /* steps that one may come after, besides all earlier ones of its round */
    COLL_LANES = 2
};

typedef enum coll_step_kind {
    COLL_STEP_SEND,
    COLL_STEP_RECEIVE,
    COLL_STEP_COPY,   /* bytes of the data or the input to scratch memory, or back */
    COLL_STEP_COMBINE /* a range of the data, the input or scratch memory with one in scratch
                         memory, into either */
} coll_step_kind;

/* Where bytes are. The input is what a rank brings where that isn't what it has in the end. */
typedef enum coll_buffer { COLL_DATA, COLL_INPUT, COLL_SCRATCH } coll_buffer;

/* Step STEP of the round that is BACK rounds before, COLL_BACK_MOST at most. */
enum { COLL_BACK_MOST = INT16_MAX };
typedef struct coll_after {
    int step;
    int16_t back;
    bool paces; /* keeps messages from crowding each other: without it nothing would be wrong */
} coll_after;

/*
 * A step moves or combines LENGTH bytes: whole elements, where the call has an MPI_Op. The data, or
 * the input, is one block, or one of each rank in the order of the line; a step's BLOCK is a
 * position in the line, FROM counts from that block's start, and where all blocks are as long a
 * range may go on into the blocks behind it. The input is only read.
 *
 * A round has segments of memory, its own while it is under way. A step on scratch memory means
 * AT in one of them; of a combination of scratch memory with scratch memory the other operand lies
 * at FROM in segment BLOCK. Unless AT is the first operand, or gets the result, nothing of use is
 * left there. Others pass through there, too, where their data is not contiguous; two
 * ranges of a round may not share bytes of a segment, unless they are the same.
 *
 * Bytes that a message under way moves may not be written, nor read where it is to come.
 */
typedef struct coll_step {
    coll_step_kind kind;
    coll_buffer buffer; /* of a copy or a combination: the one that isn't scratch memory */
    int peer;           /* rank */
    int lane;
    int block;           /* position */
    int segment;         /* which of the round's */
    size_t from, length; /* bytes; length 0: an empty message */
    size_t at;           /* in the segment */
    bool to_scratch;     /* the result of a copy or a combination, which else goes to the data */
    bool scratch_first;  /* scratch memory is the first operand: ranks in order, as a rule */
    bool after_earlier;  /* comes after all steps of its round before it */
    int afters;
    coll_after after[COLL_STEP_AFTER];
} coll_step;

/* Plans write many: what is longer compilers clear by a loop that takes as long as all the rest. */
_Static_assert(sizeof(coll_step) <= 80, "a step is short");

/* The measures of a plan; those of all ranks of a call are alike. */
typedef struct coll_plan_size {
    int window;          /* rounds */
    int steps;           /* of a round, at most */
    int segments;        /* of a round */
    size_t segment;      /* bytes of a segment, at most */
    size_t own_bytes;    /* memory that the plan itself needs, */
    size_t making_bytes; /* and more behind that until it is made */
} coll_plan_size;

/* Writes the steps of ROUND, in order, and returns how many there are. */
typedef struct coll_plan coll_plan;
typedef int coll_round(const coll_plan *plan, uint64_t round, coll_step steps[]);

struct coll_plan {
    coll_plan_size size;
    const struct coll_part *part;
    uint64_t rounds;
    coll_round *round;
};

/* One rank's part in a call: the ground that its plan rests on. It outlives the plan. */
typedef struct coll_part {
    const coll_shape *shape;
    const coll_values *values;
    const coll_line *line;     /* the ranks in chain order, and this rank's place among them */
    size_t own;                /* bytes of this rank's data; 0 where they are blocks */
    const coll_blocks *blocks; /* of the data, or NULL: it is one */
    const coll_blocks *input;  /* likewise of the input */
} coll_part;

/* A plan of PART in so many ROUNDS, or 0 where they are set later. */
static inline coll_plan coll_plan_of(const coll_part *part, coll_plan_size size, uint64_t rounds,
                                     coll_round *round) {
    return (coll_plan){.size = size, .part = part, .rounds = rounds, .round = round};
}

/* Bytes of the block at POSITION of the data or the input, BLOCKS of PART. */
static inline size_t coll_part_block(const coll_part *part, const coll_blocks *blocks,
                                     int position) {
    return blocks ? coll_blocks_bytes(blocks, part->line->order[position]) : part->shape->bytes;
}

/* Whether another UNIT begins in the line at POSITION. */
static inline bool coll_part_begins(const coll_part *part, int position, coll_unit unit) {
    return coll_line_begins(part->line, part->shape->topo, position, unit);
}

/* How an algorithm plans. */
typedef struct coll_planner {
    /* The same for all ranks of a call, so who looks at all of them asks once. */
    coll_plan_size (*size)(const coll_part *part);
    /* The plan in SIZE's measures, in OWN_BYTES and MAKING_BYTES of MEMORY. */
    coll_plan *(*plan)(const coll_part *part, coll_plan_size size, void *memory);
    bool (*unplanned)(const coll_values *values); /* with these it is no plan; NULL: never */
} coll_planner;

/* The planner of ALGORITHM with VALUES; NULL where it depends on more than a plan may. */
static inline const coll_planner *coll_planner_of(const coll_algorithm *algorithm,
                                                  const coll_values *values) {
    const coll_planner *planner = algorithm->planner;
    return planner && planner->unplanned && planner->unplanned(values) ? NULL : planner;
}

/* Plans write many steps: member by member, so that compilers make none elsewhere first. */
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

/* A copy between BUFFER and scratch memory. */
static inline coll_step coll_step_copy(coll_buffer buffer, size_t from, size_t length,
                                       bool to_scratch) {
    coll_step step = coll_step_of(COLL_STEP_COPY, from, length);
    step.buffer = buffer;
    step.to_scratch = to_scratch;
    return step;
}

/* BUFFER and scratch memory, combined. */
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

static inline void coll_step_after(coll_step *step, int back, int which) {
    step->after[step->afters++] = (coll_after){.back = (int16_t)back, .step = which};
}

/* The same for the sake of the pace alone. */
static inline void coll_step_pace(coll_step *step, int back, int which) {
    step->after[step->afters++] = (coll_after){.back = (int16_t)back, .step = which, .paces = true};
}

/* A segment of about BYTES for SHAPE: of whole elements, at least one. */
static inline size_t coll_segment_of(const coll_shape *shape, size_t bytes) {
    size_t element = shape->element ? shape->element : 1;
    return bytes < element ? element : bytes / element * element;
}

/* Where part I of P of BYTES begins (I == P: the end), cut between elements as evenly as can be. */
static inline size_t coll_share_start(const coll_shape *shape, size_t bytes, int p, int i) {
    size_t element = shape->element ? shape->element : 1;
    return coll_block_start(bytes / element, p, i) * element;
}

typedef struct coll_range {
    size_t from, length; /* bytes */
} coll_range;

/* That part. */
static inline coll_range coll_share(const coll_shape *shape, size_t bytes, int p, int i) {
    size_t element = shape->element ? shape->element : 1, all = bytes / element;
    return (coll_range){coll_block_start(all, p, i) * element,
                        coll_block_length(all, p, i) * element};
}

/* Bytes of segment I of a range of BYTES that is cut into segments of SEGMENT. */
static inline size_t coll_segment_length(size_t bytes, size_t segment, uint64_t i) {
    size_t left = bytes - (size_t)i * segment;
    return left < segment ? left : segment;
}

static inline coll_range coll_segment_at(size_t bytes, size_t segment, uint64_t i) {
    return (coll_range){(size_t)i * segment, coll_segment_length(bytes, segment, i)};
}

/* How many segments BYTES are; 0 for none. */
static inline uint64_t coll_segment_count(size_t bytes, size_t segment) {
    return bytes ? (bytes - 1) / segment + 1 : 0;
}

static inline size_t coll_least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* How long each of as few parts as can be is if ALL is cut evenly into parts of up to MOST: not
 * long ones and a short one. At least 1. */
static inline size_t coll_even(size_t all, size_t most) {
    const uint64_t parts = coll_segment_count(all, most);
    return parts ? (all - 1) / (size_t)parts + 1 : 1;
}

/* The user's segment, or less where LONGEST bytes are cut evenly. */
static inline size_t coll_segment_even(const coll_part *part, size_t longest) {
    const coll_shape *shape = part->shape;
    size_t most = coll_segment_of(shape, part->values->at[COLL_SEGMENT]),
           even = coll_even(longest, most), element = shape->element;
    if (longest == 0)
        return 1;
    return coll_least(coll_segment_of(shape, even + (element ? element - 1 : 0)), most);
}

/* The same for chunks that are some times LEAST bytes. */
static inline size_t coll_chunk_of(const coll_part *part, size_t least) {
    const size_t all = (size_t)coll_segment_count(part->shape->bytes, least),
                 asked = part->values->at[COLL_SEGMENT] / least;
    return least * coll_even(all, asked ? asked : 1);
}

#endif
