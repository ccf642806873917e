/* The state of a rank: taken by its watcher, sent to whoever reports. */
#ifndef COLL_WATCH_STATE_H
#define COLL_WATCH_STATE_H

#include "watch/record.h"

#include <stddef.h>

/*
 * Takes this rank's state. THREAD is the one that called MPI_Init; its stack is looked at where
 * STACKS. watch_state_free frees it. False: no memory.
 */
bool watch_state_take(watch_state *state, int rank, int thread, bool stacks);
void watch_state_free(watch_state *state);

/* How long the oldest open call has lasted, in nanoseconds; *CALL is its serial, 0: none is open.
 */
uint64_t watch_state_oldest(uint64_t *call);

/* To LENGTH bytes, which the caller frees, or NULL; and back, false for what is no state. */
void *watch_state_pack(const watch_state *state, size_t *length);
bool watch_state_unpack(watch_state *state, const void *bytes, size_t length);

#endif
