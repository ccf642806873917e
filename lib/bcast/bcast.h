/* The contract of a broadcast algorithm; lib/registry.c has the table of them all. */
#ifndef COLL_LIB_BCAST_BCAST_H
#define COLL_LIB_BCAST_BCAST_H

#include "lib/algorithm/algorithm.h"
#include "lib/algorithm/line.h"
#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/schedule/engine.h"

/* A broadcast on this rank. There are at least 2 ranks and 1 byte, the same everywhere. */
typedef struct coll_bcast_call {
    coll_comm *comm;
    int root;
    int tag;                 /* of the messages of plans, and of the next lane's; 0: the usual */
    const coll_line *line;   /* of its own, where it is started; NULL: the communicator's */
    const coll_shape *shape; /* what all ranks know of it */
    const coll_data *data;   /* read at the root, written elsewhere */
} coll_bcast_call;

/* How CALL, a coll_bcast_call, goes by ALGORITHM. */
coll_planned coll_bcast_planned(const coll_algorithm *algorithm, const void *call,
                                const coll_values *values);

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

#endif
