/*
 * Which algorithm runs a call. Pure: from the same call and setting every rank makes the same
 * choice.
 */
#ifndef COLL_LIB_OPERATION_SELECT_H
#define COLL_LIB_OPERATION_SELECT_H

#include "lib/algorithm/algorithm.h"
#include "lib/algorithm/spec.h"

typedef struct coll_choice {
    const coll_algorithm *algorithm;
    coll_values values;
    double predicted; /* s; 0 where nothing was compared */
    const char *why;  /* a few words, static */
    /* In thousandths of the time of what was chosen, over all networks that the job may run on: */
    int most; /* what it takes on the worst one */
    int gain; /* what it saves on average; where it is slower it would not run, and saves 0 */
} coll_choice;

/* What was chosen, and behind it what is faster on some network, by their gains. */
enum { COLL_LIKELY = 5 };
typedef struct coll_choices {
    int count;
    coll_choice of[COLL_LIKELY];
} coll_choices;

/*
 * What is predicted of a call holds for its class: all sizes from a power of two, which is the one
 * that is predicted, up to below the next. MPI libraries change their algorithms at powers of two,
 * so their own is one and the same in a class.
 */
static inline int coll_size_class(size_t bytes) {
    return bytes > 1 ? 63 - __builtin_clzll(bytes) : 0;
}

/* The least bytes of a class, but for those of nothing. */
static inline size_t coll_class_bytes(int size_class) {
    return (size_t)1 << size_class;
}

/* Whether the same is predicted of two calls of an operation, from the same root. */
bool coll_select_alike(const coll_shape *a, const coll_shape *b);

/* Whether two such calls are also of as many bytes and from one root. */
static inline bool coll_select_same(const coll_shape *a, const coll_shape *b) {
    return a->bytes == b->bytes && a->root == b->root && coll_select_alike(a, b);
}

/* Whether ALGORITHM can run CALL. */
bool coll_select_applicable(const coll_algorithm *algorithm, const coll_shape *call);

/*
 * Returns the seconds that ALGORITHM takes for CALL with VALUES on the most likely network: the
 * algorithm's own prediction, or an estimate from its plan if it has none.
 */
double coll_predicted(const coll_algorithm *algorithm, const coll_shape *call,
                      const coll_values *values);

/*
 * Whether every call on a communicator of TOPO goes to the MPI library's own, since nobody has
 * asked for anything else and all ranks are on one node, where its shared memory is hard to beat.
 */
bool coll_select_native(const coll_topo *topo, const coll_spec *user);

/*
 * Chooses from TABLE, whose first entry applies to every call: the MPI library's own. What the
 * user asked for comes first. Otherwise that first entry runs on one node, and calls of as few
 * bytes as it is best for; where ranks bring different sizes, the algorithm made for that runs;
 * everywhere else the applicable one with the least predicted time, rivals left aside, if that is
 * clearly less than the first entry's. Where nobody has measured the network, the one with the
 * least geometric mean of its time by the fastest's over several networks (lib/cost/networks.h): it
 * is good on all of them.
 */
coll_choice coll_select(const coll_algorithm *const table[], const coll_shape *call,
                        const coll_spec *user);

/* The same, with what else of TABLE is faster on some network, and nowhere so slow that its time
 * was not predicted. */
coll_choices coll_select_likely(const coll_algorithm *const table[], const coll_shape *call,
                                const coll_spec *user);

/*
 * The same for a call that is started: what the user asked for where that can be, else what has the
 * least predicted time, the table's first where ranks bring different sizes. Rivals are left aside
 * where there are others. For every call there is one.
 */
coll_choice coll_select_started(const coll_algorithm *const table[], const coll_shape *call,
                                const coll_spec *user);

/*
 * Returns why ALGORITHM can't run CALL, as words that follow a colon, or why it can't start it if
 * it can run it. The text is static.
 */
const char *coll_select_obstacle(const coll_algorithm *algorithm, const coll_shape *call);

/* Whether ALGORITHM with VALUES can run a call that is started. */
bool coll_select_can_start(const coll_algorithm *algorithm, const coll_values *values);

#endif
