/*
 * What broadcast algorithms share; lib/registry.c has the table of them all. A call of theirs has
 * at least 2 ranks and 1 byte, the same everywhere.
 */
#ifndef COLL_LIB_BCAST_BCAST_H
#define COLL_LIB_BCAST_BCAST_H

#include "lib/algorithm/algorithm.h"
#include "lib/algorithm/line.h"
#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/schedule/engine.h"

/*
 * The segment of a pipeline that CALL is: the one that is WANTED; else (0) by coll_profile_segment
 * with FILL, which is for links. On one node nothing queues on a link, and each message costs a
 * handshake: segments of 1 MB.
 */
size_t coll_bcast_segment(const coll_shape *call, uint64_t wanted, double fill);

extern const coll_algorithm coll_bcast_native;
extern const coll_algorithm coll_bcast_linear;
extern const coll_algorithm coll_bcast_binomial;
extern const coll_algorithm coll_bcast_scatter_allgather;
extern const coll_algorithm coll_bcast_chain;
extern const coll_algorithm coll_bcast_circulant;
extern const coll_algorithm coll_bcast_two_tree;
extern const coll_algorithm coll_bcast_bine;

/* In no table: as MPI libraries do it (binomial.c). */
extern const coll_algorithm coll_bcast_usual_line, coll_bcast_usual_binary,
    coll_bcast_usual_binomial, coll_bcast_usual_quadrinomial;

#endif
