/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a rank: taken by its watcher, and sent to the watcher that makes a report. */
#ifndef COLL_WATCH_STATE_H
#define COLL_WATCH_STATE_H

#include "watch/record.h"

#include <stddef.h>

/*
 * Takes a snapshot of this rank's state. If STACKS, it includes the stack of THREAD, the thread
 * that called MPI_Init. watch_state_free frees the state. Returns false if memory is short.
 */
bool watch_state_take(watch_state *state, int rank, int thread, bool stacks);
void watch_state_free(watch_state *state);

/*
 * Returns how long the oldest open call has lasted, in nanoseconds. Sets *CALL to its serial
 * number, or to 0 if no call is open.
 */
uint64_t watch_state_oldest(uint64_t *call);

/* Serialises STATE to *LENGTH bytes, which the caller frees; returns NULL if memory is short. */
void *watch_state_pack(const watch_state *state, size_t *length);

/* Restores STATE from its serialised form. Returns false if that form is invalid. */
bool watch_state_unpack(watch_state *state, const void *bytes, size_t length);

#endif
