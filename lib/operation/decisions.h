/*
 * What was predicted for calls of all operations, which communicators whose ranks have the same
 * places and costs share: a prediction takes milliseconds, and programs make copies of a
 * communicator. Several threads may use it at a time.
 */
#ifndef COLL_LIB_OPERATION_DECISIONS_H
#define COLL_LIB_OPERATION_DECISIONS_H

#include "lib/operation/select.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct coll_decisions coll_decisions;

/*
 * Returns what was predicted for ranks with TOPO's places on a network of this ID, for
 * coll_decisions_close; NULL: no memory. An ID of 0 is that of no other: nothing was.
 */
coll_decisions *coll_decisions_open(int64_t id, const coll_topo *topo);

/* Ends a use of DECISIONS, or of NULL. What was used last is kept for communicators to come. */
void coll_decisions_close(coll_decisions *decisions);

/*
 * Returns whether CHOICES were kept that are good for CALL, a STARTED one or not, where the user
 * ASKED for an algorithm or none: those of any call like it, between sites of the same one while
 * the latencies stay what they are.
 */
bool coll_decisions_find(coll_decisions *decisions, const coll_spec *asked, bool started,
                         const coll_shape *call, coll_choices *choices);

/* Keeps CHOICES for calls like CALL, if there is memory and they rest on predictions: others are
 * made at once. */
void coll_decisions_keep(coll_decisions *decisions, const coll_spec *asked, bool started,
                         const coll_shape *call, const coll_choices *choices);

#endif
