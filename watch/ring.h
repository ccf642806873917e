/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ring buffer of this rank's latest calls. Writers don't wait for one another; readers take copies.
 */
#ifndef COLL_WATCH_RING_H
#define COLL_WATCH_RING_H

#include "watch/record.h"

enum { WATCH_RING = 4096 };

/*
 * Returns a slot for the next call, and its serial number in *SERIAL. The caller fills in the slot
 * and then calls watch_ring_filled. The slot of a call that has not ended is not reused unless all
 * slots are in use.
 */
watch_record *watch_ring_claim(uint64_t *serial);
void watch_ring_filled(watch_record *record, uint64_t serial);

/* Returns the serial number of the latest call, or 0 if there is none. */
uint64_t watch_ring_latest(void);

/* Copies the call SERIAL. Returns false if it has been overwritten or is not filled in yet. */
bool watch_ring_read(uint64_t serial, watch_record *copy);

#endif
