/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of an algorithm for a call. Pure: from the same call and settings every rank makes the
 * same choice.
 */
#ifndef COLL_LIB_TUNING_SELECT_H
#define COLL_LIB_TUNING_SELECT_H

#include "lib/algorithm/algorithm.h"
#include "lib/algorithm/spec.h"
#include "lib/plan/plan.h"

typedef struct coll_choice {
    const coll_algorithm *algorithm;
    coll_values values;
    double predicted; /* s; 0 if nothing was compared */
    const char *why;  /* a few words, static */
    /* Compared with the chosen algorithm on all networks that the job may run on, in thousandths of
     * the chosen one's time: */
    int most; /* the time on the network where this algorithm does worst, if it takes a tenth more
                 than predicted */
    int gain; /* the time saved if it takes a tenth less than predicted, averaged over the networks;
                 a network where it is slower even so counts as 0 */
} coll_choice;

/* The chosen algorithm, followed by the algorithms that may be faster on some network, largest gain
 * first. */
enum { COLL_LIKELY = 5 };
typedef struct coll_choices {
    int count;
    coll_choice of[COLL_LIKELY];
} coll_choices;

/*
 * Returns the size class of BYTES: the sizes from a power of two up to below the next. A prediction
 * is made for the power of two, and holds for the whole class. MPI libraries change their
 * algorithms at powers of two, so an MPI library runs one algorithm within a class.
 */
static inline int coll_size_class(size_t bytes) {
    return bytes > 1 ? 63 - __builtin_clzll(bytes) : 0;
}

/* Returns the least bytes of a class (class 0 also contains 0 bytes). */
static inline size_t coll_class_bytes(int size_class) {
    return (size_t)1 << size_class;
}

/* Most bytes of a number type. */
enum { COLL_NUMBER_BYTES = 16 };

/*
 * Returns the element size that CALL is predicted with. All number types count as one size, 8 bytes
 * (1 in calls of fewer bytes), since the element size only rounds segments to whole elements.
 */
static inline size_t coll_select_element(const coll_shape *call) {
    const size_t usual = 8;
    if (call->element == 0 || call->element > COLL_NUMBER_BYTES)
        return call->element;
    return call->bytes < usual && call->bytes > 0 ? 1 : usual;
}

/* Returns the class of CALL's longest block if it is more than twice as long as the mean, else -1.
 */
static inline int coll_long_class(const coll_shape *call) {
    return call->longest / 2 > call->bytes ? coll_size_class(call->longest) : -1;
}

/* Returns whether ALGORITHM can run CALL. */
static inline bool coll_select_applicable(const coll_algorithm *algorithm, const coll_shape *call) {
    return (!call->reproducible || algorithm->reproducible) &&
           (!algorithm->applicable || algorithm->applicable(call));
}

/*
 * Returns whether calls on a communicator of TOPO use the MPI library's own algorithm if it can run
 * them: the user has asked for no algorithm, and all ranks are on one node, where the library's use
 * of shared memory is hard to beat.
 */
bool coll_select_native(const coll_topo *topo, const coll_spec *user);

/*
 * Chooses from the table of CALL's operation, whose first entry is the MPI library's own algorithm:
 *
 * 1. the algorithm that USER asked for, if it is applicable;
 * 2. if the first entry can't run CALL, such as a reduction that must be reproducible, the choice
 *    of coll_select_started;
 * 3. the first entry if USER asked for another algorithm, if all ranks are on one node, or if the
 *    data is so small and latencies so short that the first entry is known to be best;
 * 4. if sizes differ by rank, the algorithm made for that;
 * 5. else the applicable algorithm, rivals (baselines) excluded, with the least predicted time. If
 *    the job may be running on several networks (lib/cost/networks.h), it is the one with the least
 *    geometric mean over them of its time divided by the fastest's, so that it is good on all of
 *    them. The first entry runs unless another one is clearly faster.
 *
 * For a reduction this takes less time than coll_select_likely. Both choose the same algorithm, or
 * rarely two that are about as fast.
 */
coll_choice coll_select(const coll_shape *call, const coll_spec *user);

/*
 * Chooses as coll_select does. Returns the choice, followed by the other algorithms of the table
 * that are faster on some network. Leaves out algorithms that are so slow on another network that
 * their time was not predicted exactly.
 */
coll_choices coll_select_likely(const coll_shape *call, const coll_spec *user);

/*
 * Chooses for a nonblocking or persistent call: the algorithm that USER asked for, if it is
 * applicable and can be started; else one of the applicable algorithms that can be started: the
 * first one if sizes differ by rank, else the best one as in 5 above, without a preference for the
 * first entry. Rivals are considered only if there is no other algorithm.
 */
coll_choice coll_select_started(const coll_shape *call, const coll_spec *user);

/*
 * Sets *LEAST and *MOST to the bytes of CALL's size class for which the same algorithms are
 * applicable as for CALL. With one site, a choice for CALL holds for all calls of these bytes that
 * are like CALL in all else.
 */
void coll_select_range(const coll_shape *call, size_t *least, size_t *most);

/*
 * Returns why ALGORITHM can't run CALL or, if it can, why it can't run CALL as a nonblocking or
 * persistent call. The text is static, and continues a sentence after a colon.
 */
const char *coll_select_obstacle(const coll_algorithm *algorithm, const coll_shape *call);

/* Returns whether ALGORITHM with VALUES can run nonblocking and persistent calls. */
static inline bool coll_select_can_start(const coll_algorithm *algorithm,
                                         const coll_values *values) {
    return algorithm->open || coll_planner_of(algorithm, values);
}

#endif
