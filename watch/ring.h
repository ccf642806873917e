/* The last calls of this rank. Writers don't wait for one another; a reader takes copies. */
#ifndef COLL_WATCH_RING_H
#define COLL_WATCH_RING_H

#include "watch/record.h"

enum { WATCH_RING = 4096 };

/*
 * A place for the next call, which gives it its serial; the caller fills in the rest and then calls
 * watch_ring_filled. A call that lasts keeps its place, whatever other threads do.
 */
watch_record *watch_ring_claim(uint64_t *serial);
void watch_ring_filled(watch_record *record, uint64_t serial);

/* Serial of the latest call; 0: none. */
uint64_t watch_ring_latest(void);

/* Copies the call SERIAL; false where it is no longer there, or not yet. */
bool watch_ring_read(uint64_t serial, watch_record *copy);

#endif
