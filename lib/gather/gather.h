/*
 * What gather algorithms share; lib/registry.c has the table of them all. A call of theirs has at
 * least 2 ranks. Where all bring the same amount the shape has it, and it is at least 1 byte; else
 * it is COLL_BYTES_UNKNOWN, and the root alone knows all amounts. The root has blocks, its own in
 * place; the others have data.
 */
#ifndef COLL_LIB_GATHER_GATHER_H
#define COLL_LIB_GATHER_GATHER_H

#include "lib/algorithm/algorithm.h"
#include "lib/algorithm/line.h"
#include "lib/base/blocks.h"
#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/schedule/engine.h"

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
