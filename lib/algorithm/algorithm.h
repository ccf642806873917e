/*
 * What all algorithms of all operations have in common: a name, parameters, where they apply and
 * what they cost. The tables of lib/<operation>/ hold them; the chooser, the tests and the tools
 * walk the tables.
 */
#ifndef COLL_LIB_ALGORITHM_ALGORITHM_H
#define COLL_LIB_ALGORITHM_ALGORITHM_H

#include "lib/cost/profile.h"
#include "lib/place/topo.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct coll_comm;
struct coll_planned;

enum { COLL_PARAMS_MAX = 6 };

/* A parameter that the user may set, "segment=32K". Sizes are in bytes. */
typedef struct coll_param {
    const char *name;
    const char *help;
    uint64_t fallback; /* the value where the user gives none */
    uint64_t lowest, highest;
    const char *formerly; /* an older name, which is still understood; NULL: none */
} coll_param;

/* Those that most algorithms have, by their numbers, and their USUAL values; 0: any is allowed, and
 * 0 leaves it to the algorithm. */
enum { COLL_SEGMENT, COLL_WINDOW };
#define COLL_PARAM_SEGMENT_FORMERLY(old, text, usual)                                              \
    [COLL_SEGMENT] = {"segment", text, usual, (usual) > 0, 1 << 30, old}
#define COLL_PARAM_SEGMENT(text, usual) COLL_PARAM_SEGMENT_FORMERLY(NULL, text, usual)
#define COLL_PARAM_WINDOW(text, usual) [COLL_WINDOW] = {"window", text, usual, (usual) > 0, 1 << 10}
/* Of algorithms whose only one it is; 1 is no radix either. */
enum { COLL_RADIX };
#define COLL_PARAM_RADIX(text)                                                                     \
    [COLL_RADIX] = {"radix", text "; below 2: as the cost model has it", 0, 0, 64, NULL}
#define COLL_MESSAGE_BYTES "bytes a message, under the transport's eager limit"

/* The values of an algorithm's parameters, in the order of its params. */
typedef struct coll_values {
    uint64_t at[COLL_PARAMS_MAX];
} coll_values;

/* The size of a call whose ranks bring different amounts: none of them knows it all. */
#define COLL_BYTES_UNKNOWN SIZE_MAX

/* The root of a call in which all ranks play the same part. */
enum { COLL_NO_ROOT = -1 };

/*
 * What a rank has in the end of an operation, its data, and what it brings where that is something
 * else, its input: nothing, one piece, or a block of each rank.
 */
typedef enum coll_side { COLL_SIDE_NONE, COLL_SIDE_ONE, COLL_SIDE_BLOCKS } coll_side;
typedef struct coll_sides {
    coll_side data, root_data;   /* of others and of the root; all alike where there is none */
    coll_side input, root_input; /* likewise */
} coll_sides;

/* A call as all its ranks know it: the only ground on which an algorithm may be chosen. */
typedef struct coll_shape {
    const char *operation;
    coll_sides sides;
    size_t bytes;      /* per rank, or of a block; or COLL_BYTES_UNKNOWN */
    int root;          /* or COLL_NO_ROOT */
    size_t element;    /* bytes that an MPI_Op combines as one; 0: nothing is combined */
    bool ordered;      /* ranks are combined in the order of their numbers */
    bool reproducible; /* by an algorithm that is so: COLL_REPRODUCIBLE; then ordered, too */
    size_t served;     /* the most bytes that dedicated processors take; 0: they don't */
    int events;        /* that it may take to price it; 0: what a job has the time for */
    double enough;     /* seconds from which on a price is but a bound: others take less; 0: none */
    const coll_topo *topo;
    const double *latencies; /* as the topology's, when the call was made; NULL: not known then */
    const coll_profile *profile;
    const coll_profile *network; /* what messages cost, if not as in PROFILE; NULL: as there */
} coll_shape;

/* Where what ranks bring may be combined in any order. */
static inline bool coll_order_is_free(const coll_shape *call) {
    return !call->ordered;
}

typedef struct coll_algorithm {
    const char *name;
    const char *summary;                        /* one line */
    coll_param params[COLL_PARAMS_MAX + 1];     /* ended by one whose name is NULL */
    bool (*applicable)(const coll_shape *call); /* NULL: always */
    size_t best_below; /* of a table's first: bytes below which, in one site, no other is chosen */
    bool sizeless;     /* chosen where sizes differ and the root alone knows them */
    /* Combines by the same tree over rank numbers as all others of its table that are so, whatever
     * the size and the placement, where ranks stand in order. */
    bool reproducible;
    bool rival; /* here to be compared with: runs when the user names it, is never chosen */
    /* Seconds from the common start to the last rank's end; NULL: the price of its plan. */
    double (*predict)(const coll_shape *call, const coll_values *values);
    const struct coll_planner *planner; /* lib/schedule/plan.h; NULL: it is no plan */
    /* What a blocking call finds out before it plans, on all ranks at once; NULL: nothing. */
    int (*prepare)(struct coll_comm *comm);
    /* Where it is no plan: how CALL runs; or, if it can be started, the memory that it needs, the
     * same on all ranks, and its course in that. */
    int (*run)(const struct coll_planned *call);
    size_t (*bytes)(const struct coll_planned *call);
    struct coll_course *(*open)(const struct coll_planned *call, void *memory);
} coll_algorithm;

/*
 * Returns the bytes of a segment, ASKED at most, where a plan needs memory for MANY. Ranks that
 * know the sizes of blocks need no more than a block. Else blocks may have any size, and all
 * segments together have UNKNOWN_MOST bytes at most, so that small blocks don't take the memory of
 * large ones.
 */
static inline size_t coll_segment_within(const coll_shape *shape, size_t asked, size_t many) {
    enum { UNKNOWN_MOST = 16 << 20, LEAST = 1 << 10 };
    size_t most = shape->bytes;
    if (shape->bytes == COLL_BYTES_UNKNOWN)
        most = UNKNOWN_MOST / many > LEAST ? UNKNOWN_MOST / many : LEAST;
    return asked < most ? asked : most;
}

/* Bytes that the MPI library's broadcast or gather gets in one call, all blocks together; they may
 * have to be packed. */
enum { COLL_NATIVE_MOST = 256 << 20 };

/* What the MPI library runs; it is priced as the algorithm of ours that is most like it. */
static inline bool coll_algorithm_is_native(const coll_algorithm *algorithm) {
    return strcmp(algorithm->name, "native") == 0;
}

#endif
