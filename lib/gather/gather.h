/* The contract of a gather algorithm; lib/registry.c has the table of them all. */
#ifndef COLL_LIB_GATHER_GATHER_H
#define COLL_LIB_GATHER_GATHER_H

#include "lib/algorithm/algorithm.h"
#include "lib/algorithm/line.h"
#include "lib/base/blocks.h"
#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/schedule/engine.h"

/*
 * A gather on this rank, one of at least 2. Where all ranks bring the same amount the shape has it,
 * and it is at least 1 byte; else it is COLL_BYTES_UNKNOWN, and the root alone knows all amounts.
 */
typedef struct coll_gather_call {
    coll_comm *comm;
    int root;
    int tag;                   /* of its messages, and the next; 0: the usual */
    const coll_line *line;     /* of its own, where it is started; NULL: the communicator's */
    const coll_shape *shape;   /* what all ranks know of it */
    const coll_data *mine;     /* this rank's data; NULL at the root, whose block is in place */
    MPI_Datatype type;         /* of mine, as the user described it */
    const coll_blocks *blocks; /* at the root; NULL elsewhere */
} coll_gather_call;

/* How CALL, a coll_gather_call, goes by ALGORITHM. */
coll_planned coll_gather_planned(const coll_algorithm *algorithm, const void *call,
                                 const coll_values *values);

/* The tag of CALL's messages; COLL_LANES from there on are its own. */
static inline int coll_gather_tag(const coll_gather_call *call) {
    return call->tag ? call->tag : COLL_TAG_GATHER;
}

/* The ranks of CALL in chain order. */
static inline const coll_line *coll_gather_line(const coll_gather_call *call) {
    return call->line ? call->line : coll_line_of(call->comm, call->shape);
}

extern const coll_algorithm coll_gather_native;
extern const coll_algorithm coll_gather_linear;
extern const coll_algorithm coll_gather_binomial;
extern const coll_algorithm coll_gather_window;
extern const coll_algorithm coll_gather_credit;

/* For algorithms whose ranks all need to know the size. */
static inline bool coll_gather_is_even(const coll_shape *call) {
    return call->bytes != COLL_BYTES_UNKNOWN;
}

/*
 * Eq. 8 of Tam and Wang, T = C1 + (p - 1) m D + C2, for blocks of MESSAGES messages each that keep
 * the link to the root full: until the first byte is there, all bytes through the link (or, where
 * that takes longer, all messages at the root's least gap), and the end of the last message.
 */
double coll_gather_seconds(const coll_shape *call, double messages);

/* Bytes that the buffer before the link to a rank holds. */
double coll_gather_buffer(const coll_shape *call);

#endif
