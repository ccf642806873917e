/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of all algorithms of all operations: name, parameters, applicability and cost.
 * lib/api/registry.c has the tables that the chooser, the tests and the tools use.
 */
#ifndef COLL_LIB_ALGORITHM_ALGORITHM_H
#define COLL_LIB_ALGORITHM_ALGORITHM_H

#include "lib/cost/profile.h"
#include "lib/topology/topo.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coll_comm;
struct coll_exec_args;
struct coll_traffic;

enum { COLL_PARAMS_MAX = 6 };

/* A parameter that the user may set, as in "segment=32K". Sizes are in bytes. */
typedef struct coll_param {
    const char *name;
    const char *help;
    uint64_t fallback; /* default value */
    uint64_t lowest, highest;
    const char *formerly; /* an older name that is still accepted; NULL: none */
} coll_param;

/*
 * The parameters that most algorithms have, and their index. USUAL is the default; if it is 0, the
 * user may also give 0, which leaves the value to the algorithm.
 */
enum { COLL_SEGMENT, COLL_WINDOW };
#define COLL_PARAM_SEGMENT_FORMERLY(old, text, usual)                                              \
    [COLL_SEGMENT] = {"segment", text, usual, (usual) > 0, 1 << 30, old}
#define COLL_PARAM_SEGMENT(text, usual) COLL_PARAM_SEGMENT_FORMERLY(NULL, text, usual)
#define COLL_PARAM_WINDOW(text, usual) [COLL_WINDOW] = {"window", text, usual, (usual) > 0, 1 << 10}
/* For algorithms whose only parameter is the radix; values below 2 leave it to the cost model. */
enum { COLL_RADIX };
#define COLL_PARAM_RADIX(text)                                                                     \
    [COLL_RADIX] = {"radix", text "; below 2: by the cost model", 0, 0, 64, NULL}
#define COLL_MESSAGE_BYTES "bytes a message, under the transport's eager limit"

/* The values of an algorithm's parameters, in the order of its params. */
typedef struct coll_values {
    uint64_t at[COLL_PARAMS_MAX];
} coll_values;

/* The size of a call in which sizes differ by rank and not all ranks know all sizes. */
#define COLL_BYTES_UNKNOWN SIZE_MAX

/* Root of a call without a root. */
enum { COLL_NO_ROOT = -1 };

/*
 * The buffers of a call on one rank. The data is what the rank has after the operation; the input
 * is what the rank contributes, if its contribution is not in the data. Each is absent, one piece,
 * or a block for each rank or neighbour.
 */
typedef enum coll_side { COLL_SIDE_NONE, COLL_SIDE_ONE, COLL_SIDE_BLOCKS } coll_side;
typedef struct coll_sides {
    /* of non-roots and of the root; equal if the operation has no root */
    coll_side data, root_data;
    coll_side input, root_input; /* likewise */
} coll_sides;

typedef enum coll_operation {
    COLL_OPERATION_BCAST,
    COLL_OPERATION_GATHER,
    COLL_OPERATION_AGGREGATE,
    COLL_OPERATION_ALLREDUCE,
    COLL_OPERATION_REDUCE,
    COLL_OPERATION_REDUCE_SCATTER,
    COLL_OPERATION_ALLGATHER,
    COLL_OPERATION_ALLTOALL,
    COLL_OPERATION_SCATTER,
    COLL_OPERATION_BARRIER,
    COLL_OPERATION_SCAN,
    COLL_OPERATION_EXSCAN,
    COLL_OPERATION_NEIGHBOR_ALLGATHER,
    COLL_OPERATION_NEIGHBOR_ALLTOALL,
    COLL_OPERATIONS
} coll_operation;

/* What all ranks know about a call. The choice of an algorithm may depend on nothing else. */
typedef struct coll_shape {
    coll_operation operation;
    coll_sides sides;
    size_t bytes; /* of a rank's data or of a block, the mean if blocks differ; or
                     COLL_BYTES_UNKNOWN */
    size_t
        longest; /* bytes of the longest block if all ranks know that blocks may differ; else 0 */
    int root;    /* or COLL_NO_ROOT */
    size_t element; /* bytes of an element that the MPI_Op combines; 0: no reduction */
    bool ordered;   /* operands must be combined in rank order */
    /* COLL_REPRODUCIBLE: only reproducible algorithms may run; implies ORDERED */
    bool reproducible;
    size_t served; /* bytes of the largest call of this kind that DCPs serve; 0: none */
    /* simulation events allowed for predicting the call's time; 0: the default for the job */
    int events;
    /* a prediction may stop at this many seconds and return that lower bound; 0: no limit */
    double enough;
    /* the sampled load of one algorithm's plan, kept from one estimate of the call to the next. Its
     * member `rounds` is 0 until an estimate sets the load. NULL: not kept */
    struct coll_traffic *sampled;
    /* raised by each estimate of the call to the largest share of a switch's buffer that messages
     * filled without a loss: with buffers of at least this share of their size, the estimate would
     * be the same; or NULL */
    double *fill;
    const coll_topo *topo;
    /* of a neighbourhood collective: its edges; NULL if not all ranks know them */
    const struct coll_graph *graph;
    /* TOPO's latencies between sites at the time of the call; NULL if unknown */
    const double *latencies;
    const coll_profile *profile;
    /* message costs to use instead of those in PROFILE; NULL: PROFILE's */
    const coll_profile *network;
} coll_shape;

/* Returns the message costs for predictions of CALL. */
static inline const coll_profile *coll_shape_costs(const coll_shape *call) {
    return call->network ? call->network : call->profile;
}

/* Returns whether operands may be combined in any order. */
static inline bool coll_order_is_free(const coll_shape *call) {
    return !call->ordered;
}

/* How often a call waits for the transfer of a whole block, if one block is much longer than the
 * others: once, in each of log2 p rounds, or p - 1 times. The transfers are over one link, or over
 * different links one after the other. */
typedef enum coll_passes {
    COLL_PASSES_ONCE,
    COLL_PASSES_EACH_ROUND,
    COLL_PASSES_EACH_RANK
} coll_passes;

typedef struct coll_algorithm {
    const char *name;
    const char *formerly; /* accepted name of an algorithm that this one replaces; NULL: none */
    const char *summary;  /* one line */
    coll_param params[COLL_PARAMS_MAX + 1];     /* terminated by a NULL name */
    bool (*applicable)(const coll_shape *call); /* NULL: always */
    /* in the first entry of a table: bytes below which it is always chosen within one site if each
     * rank has a node of its own, latencies are short and the user names no algorithm */
    size_t best_below;
    /* made for sizes that differ by rank: the first algorithm of a table with this flag is chosen
     * if a call's bytes are unknown, there are several nodes and the user names no algorithm */
    bool sizeless;
    /* the MPI library's own; its predicted time is that of the most similar algorithm of ours */
    bool native;
    /*
     * Combines with the same tree over rank numbers as all other reproducible algorithms of its
     * table, whatever the size and the placement, if the line (rank_order.h) is in rank order.
     */
    bool reproducible;
    coll_passes passes; /* used if all ranks know that blocks may differ */
    bool rival;         /* baseline for comparisons: runs only if the user names it */
    /* Returns the seconds from the common start to the last rank's end. NULL: simulate the plan. */
    double (*predict)(const coll_shape *call, const coll_values *values);
    const struct coll_planner *planner; /* lib/plan/plan.h; NULL: the algorithm has no plan */
    /* Called by a blocking call before it plans; collective. NULL: nothing to prepare. */
    int (*prepare)(struct coll_comm *comm);
    /*
     * Without a plan, an algorithm has either RUN, which runs CALL to its end, or BYTES and OPEN
     * for nonblocking execution: BYTES returns the size of the memory that OPEN needs (the same on
     * all ranks); OPEN creates the task in this memory.
     */
    int (*run)(const struct coll_exec_args *call);
    size_t (*bytes)(const struct coll_exec_args *call);
    struct coll_task *(*open)(const struct coll_exec_args *call, void *memory);
} coll_algorithm;

/*
 * Returns the size of a segment in bytes, at most ASKED, for a plan that needs memory for MANY
 * segments. If all ranks know the block size, a segment is at most one block. Otherwise blocks may
 * have any size, and all segments together have at most UNKNOWN_MOST bytes (but each may have LEAST
 * bytes), so that small blocks don't take the memory of large ones.
 */
static inline size_t coll_segment_within(const coll_shape *shape, size_t asked, size_t many) {
    enum { UNKNOWN_MOST = 16 << 20, LEAST = 1 << 10 };
    size_t most = shape->bytes;
    if (shape->bytes == COLL_BYTES_UNKNOWN)
        most = UNKNOWN_MOST / many > LEAST ? UNKNOWN_MOST / many : LEAST;
    return asked < most ? asked : most;
}

/*
 * Upper limit, in bytes, of the data of one call of the MPI library's broadcast or gather, all
 * blocks together: the data may have to be packed into scratch memory.
 */
enum { COLL_NATIVE_MOST = 256 << 20 };

#endif
