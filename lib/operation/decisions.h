/*
 * What was decided for calls of an operation: the last choice of each class of sizes. A
 * communicator keeps its own, and those whose ranks have the same places and costs keep what they
 * predicted together: a prediction takes milliseconds, and programs make copies of a communicator.
 */
#ifndef COLL_LIB_OPERATION_DECISIONS_H
#define COLL_LIB_OPERATION_DECISIONS_H

#include "lib/operation/select.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls that go to the MPI library's own, and of which nothing is traced, are native: they may go
 * to it directly (lib/coll.c).
 */
typedef struct coll_decision {
    struct coll_decision *next;
    int size_class;
    coll_shape call;
    double latencies;     /* of its topology, all together */
    coll_choices choices; /* for it; none where nothing was decided */
    bool native;
} coll_decision;

/* All zero: none yet. To be used by one thread at a time. */
typedef struct coll_decisions {
    bool native;          /* every call is */
    coll_decision *first; /* of each size class that was met */
} coll_decisions;

/* Returns the last decision for calls of the size class of BYTES, or NULL. */
coll_decision *coll_decisions_find(coll_decisions *decisions, size_t bytes);

/* Returns the last decision for calls of the size class of BYTES; one without choices if there is
 * none. */
const coll_decision *coll_decisions_at(const coll_decisions *decisions, size_t bytes);

/* Whether a call of an operation like A and one like B are of as many bytes and from one root. */
bool coll_decision_same(const coll_shape *a, const coll_shape *b);

/*
 * Whether what was decided LAST is good for CALL, too: one that rests on predictions holds for all
 * calls of its size class, between sites for the same one while the latencies stay what they are.
 */
bool coll_decision_holds(const coll_decision *last, const coll_shape *call);

/* Keeps CHOICES, which were made for CALL; returns where, which is good until this thread's next
 * such call if there is no memory to keep them. */
coll_decision *coll_decisions_keep(coll_decisions *decisions, const coll_shape *call,
                                   const coll_choices *choices);

void coll_decisions_free(coll_decisions *decisions);

#endif
