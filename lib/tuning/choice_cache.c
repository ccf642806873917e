/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/choice_cache.h"

#include "lib/algorithm/operations.h"
#include "lib/base/hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct cached_choice {
    struct cached_choice *next;
    uint64_t key;
    coll_spec asked;
    coll_selected_by by;
    coll_shape call;
    size_t least, most; /* bytes for which the choices hold */
    double latencies;   /* checksum of the latencies of the call's topology */
    coll_choices choices;
} cached_choice;

/* A hash table of lists. Each list has at most MOST choices, the newest first. */
enum { LISTS = 64, MOST = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cached_choice *lists[LISTS];

uint64_t coll_choice_cache_key(int64_t id, const coll_topo *topo) {
    static int64_t alone;
    if (id == 0)
        id = __atomic_sub_fetch(&alone, 1, __ATOMIC_RELAXED);
    const uint64_t hash = coll_hash(COLL_HASH_NOTHING, &id, sizeof id);
    return coll_hash(hash, topo->places, (size_t)topo->ranks * sizeof *topo->places) | 1;
}

/* Returns a checksum of the latencies, which may be measured again at any time; it is the same on
 * all ranks. */
static double latency_checksum(const coll_topo *topo) {
    double all = 0;
    for (int i = 0; topo->latencies && i < topo->sites * topo->sites; i++)
        all += topo->latencies[i] * (i + 1);
    return all;
}

/* Returns whether ONE was made by BY for KEY and ASKED, and for a call that gets the same
 * prediction as CALL. */
static bool is_for(const cached_choice *one, uint64_t key, const coll_spec *asked,
                   coll_selected_by by, const coll_shape *call) {
    const coll_shape *other = &one->call;
    return one->key == key && one->by == by && one->asked.algorithm == asked->algorithm &&
           (!asked->algorithm ||
            memcmp(&one->asked.values, &asked->values, sizeof asked->values) == 0) &&
           other->operation == call->operation && call->bytes >= one->least &&
           call->bytes <= one->most && coll_long_class(other) == coll_long_class(call) &&
           coll_select_element(other) == coll_select_element(call) &&
           other->ordered == call->ordered && other->reproducible == call->reproducible &&
           other->served == call->served;
}

/* Between sites choices hold for one root and size, and while the latencies are the same. */
static bool is_valid_for(const cached_choice *one, const coll_shape *call) {
    return coll_select_applicable(one->choices.of[0].algorithm, call) &&
           (call->topo->sites == 1 ||
            (one->call.bytes == call->bytes && one->call.root == call->root &&
             one->latencies == latency_checksum(call->topo)));
}

static cached_choice **list_of(uint64_t key, const coll_shape *call) {
    const int class[] = {call->operation, coll_size_class(call->bytes)};
    return &lists[coll_hash(key, class, sizeof class) % LISTS];
}

bool coll_choice_cache_find(uint64_t key, const coll_spec *asked, coll_selected_by by,
                            const coll_shape *call, coll_choices *choices) {
    pthread_mutex_lock(&lock);
    const cached_choice *one = *list_of(key, call);
    while (one && !is_for(one, key, asked, by, call))
        one = one->next;
    const bool found = one && is_valid_for(one, call);
    if (found)
        *choices = one->choices;
    pthread_mutex_unlock(&lock);
    return found;
}

void coll_choice_cache_keep(uint64_t key, const coll_spec *asked, coll_selected_by by,
                            const coll_shape *call, const coll_choices *choices) {
    if (!(choices->of[0].predicted > 0))
        return;
    pthread_mutex_lock(&lock);
    /* Replaces the entry for calls like CALL; if there is none and the list is full, the oldest. */
    cached_choice **list = list_of(key, call), **link = list;
    for (int nth = 1; *link && nth < MOST && !is_for(*link, key, asked, by, call); nth++)
        link = &(*link)->next;
    cached_choice *one = *link;
    if (one)
        *link = one->next;
    else
        one = malloc(sizeof *one);
    if (one) {
        *one = (cached_choice){.next = *list,
                               .key = key,
                               .asked = *asked,
                               .by = by,
                               .call = *call,
                               .latencies = latency_checksum(call->topo),
                               .choices = *choices};
        coll_select_range(call, &one->least, &one->most);
        *list = one;
    }
    pthread_mutex_unlock(&lock);
}
