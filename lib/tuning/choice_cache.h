/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache of predicted choices for calls of all operations, one for the process: a prediction takes
 * milliseconds, and programs often duplicate communicators. Thread-safe.
 */
#ifndef COLL_LIB_TUNING_CHOICE_CACHE_H
#define COLL_LIB_TUNING_CHOICE_CACHE_H

#include "lib/tuning/select.h"

#include <stdbool.h>
#include <stdint.h>

/* Which function made a choice: coll_select, coll_select_likely or coll_select_started. */
typedef enum coll_selected_by {
    COLL_BY_SELECT,
    COLL_BY_SELECT_LIKELY,
    COLL_BY_SELECT_STARTED
} coll_selected_by;

/* Returns the key of choices for ranks with TOPO's places and the costs named by ID, never 0. If ID
 * is 0, the key differs from all other keys. */
uint64_t coll_choice_cache_key(int64_t id, const coll_topo *topo);

/*
 * Returns whether there are cached choices of function BY for CALL by ranks with KEY, and copies
 * them to CHOICES. ASKED is the user's setting. Choices hold for all calls of the same class to
 * which the same algorithms are applicable; with several sites only for the same bytes and root,
 * and while the latencies are unchanged.
 */
bool coll_choice_cache_find(uint64_t key, const coll_spec *asked, coll_selected_by by,
                            const coll_shape *call, coll_choices *choices);

/*
 * Caches CHOICES for calls like CALL, if there is memory. Choices made without predictions are not
 * cached, since making them takes no time. If there are very many choices, the oldest are dropped.
 */
void coll_choice_cache_keep(uint64_t key, const coll_spec *asked, coll_selected_by by,
                            const coll_shape *call, const coll_choices *choices);

#endif
