/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache of predicted choices for calls of all operations. Communicators whose ranks have the same
 * places and costs share it, since a prediction takes milliseconds, and programs often duplicate
 * communicators. Thread-safe.
 */
#ifndef COLL_LIB_TUNING_CHOICE_CACHE_H
#define COLL_LIB_TUNING_CHOICE_CACHE_H

#include "lib/tuning/select.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct coll_choice_cache coll_choice_cache;

/*
 * Returns the cache for ranks with TOPO's places and the costs named by ID, to be closed with
 * coll_choice_cache_close; NULL without memory. An ID of 0 gives an empty cache that is not shared.
 */
coll_choice_cache *coll_choice_cache_open(int64_t id, const coll_topo *topo);

/* Releases CACHE, which may be NULL. The most recently opened caches are kept for later
 * communicators. */
void coll_choice_cache_close(coll_choice_cache *cache);

/*
 * Returns whether there are cached choices for CALL, and copies them to CHOICES. ASKED is the
 * user's setting, STARTED whether the call is nonblocking. Choices hold for all calls of the same
 * class; with several sites only for the same bytes and root, and while the latencies are
 * unchanged.
 */
bool coll_choice_cache_find(coll_choice_cache *cache, const coll_spec *asked, bool started,
                            const coll_shape *call, coll_choices *choices);

/* Caches CHOICES for calls like CALL, if there is memory. Choices made without predictions are not
 * cached, since making them takes no time. */
void coll_choice_cache_keep(coll_choice_cache *cache, const coll_spec *asked, bool started,
                            const coll_shape *call, const coll_choices *choices);

#endif
