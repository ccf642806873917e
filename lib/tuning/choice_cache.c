/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/choice_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct cached_choice {
    struct cached_choice *next;
    coll_spec asked;
    bool started;
    coll_shape call;
    double latencies; /* weighted sum over the call's topology; serves as a checksum */
    coll_choices choices;
} cached_choice;

struct coll_choice_cache {
    pthread_mutex_t lock;
    int users;
    cached_choice *first;
    coll_choice_cache *next; /* in the list KEPT */
    int64_t id;
    int ranks;
    coll_place places[];
};

/* Caches kept: programs create the same few kinds of communicators repeatedly. */
enum { MOST = 32 };

/* The caches kept, the most recently opened first. */
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;
static coll_choice_cache *kept;

static size_t places_bytes(const coll_topo *topo) {
    return (size_t)topo->ranks * sizeof *topo->places;
}

static coll_choice_cache *make_cache(int64_t id, const coll_topo *topo) {
    coll_choice_cache *made = malloc(sizeof *made + places_bytes(topo));
    if (!made)
        return NULL;
    *made = (coll_choice_cache){
        .lock = PTHREAD_MUTEX_INITIALIZER, .users = 1, .id = id, .ranks = topo->ranks};
    memcpy(made->places, topo->places, places_bytes(topo));
    return made;
}

/* Removes the cache for ID and TOPO from the list and returns it; NULL if there is none. Then the
 * least recently opened cache is closed if the list is full. */
static coll_choice_cache *remove_kept(int64_t id, const coll_topo *topo) {
    coll_choice_cache **link = &kept;
    for (int count = 1; *link; link = &(*link)->next, count++) {
        coll_choice_cache *one = *link;
        bool found = one->id == id && one->ranks == topo->ranks &&
                     memcmp(one->places, topo->places, places_bytes(topo)) == 0;
        if (!found && count < MOST)
            continue;
        *link = one->next;
        if (found)
            return one;
        coll_choice_cache_close(one);
        return NULL;
    }
    return NULL;
}

coll_choice_cache *coll_choice_cache_open(int64_t id, const coll_topo *topo) {
    if (id == 0)
        return make_cache(id, topo);
    pthread_mutex_lock(&keeping);
    coll_choice_cache *one = remove_kept(id, topo);
    if (!one)
        one = make_cache(id, topo);
    if (one) {
        one->next = kept;
        kept = one;
        __atomic_fetch_add(&one->users, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&keeping);
    return one;
}

void coll_choice_cache_close(coll_choice_cache *cache) {
    if (!cache || __atomic_sub_fetch(&cache->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (cached_choice *next, *one = cache->first; one; one = next) {
        next = one->next;
        free(one);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* Returns a checksum of the latencies, which may be measured again at any time; it is the same on
 * all ranks. */
static double latency_checksum(const coll_topo *topo) {
    double all = 0;
    for (int i = 0; topo->latencies && i < topo->sites * topo->sites; i++)
        all += topo->latencies[i] * (i + 1);
    return all;
}

static bool same_spec(const coll_spec *a, const coll_spec *b) {
    return a->algorithm == b->algorithm &&
           (!a->algorithm || memcmp(&a->values, &b->values, sizeof a->values) == 0);
}

/* Returns the cached choices for calls like CALL. The caller holds the lock. */
static cached_choice *find_cached(const coll_choice_cache *cache, const coll_spec *asked,
                                  bool started, const coll_shape *call) {
    cached_choice *one = cache->first;
    while (one && (!same_spec(&one->asked, asked) || one->started != started ||
                   !coll_select_alike(&one->call, call) || one->call.operation != call->operation))
        one = one->next;
    return one;
}

static bool is_valid_for(const cached_choice *one, const coll_shape *call) {
    return coll_select_applicable(one->choices.of[0].algorithm, call) &&
           (call->topo->sites == 1 ||
            (coll_select_same(&one->call, call) && one->latencies == latency_checksum(call->topo)));
}

bool coll_choice_cache_find(coll_choice_cache *cache, const coll_spec *asked, bool started,
                            const coll_shape *call, coll_choices *choices) {
    pthread_mutex_lock(&cache->lock);
    const cached_choice *one = find_cached(cache, asked, started, call);
    bool found = one && is_valid_for(one, call);
    if (found)
        *choices = one->choices;
    pthread_mutex_unlock(&cache->lock);
    return found;
}

void coll_choice_cache_keep(coll_choice_cache *cache, const coll_spec *asked, bool started,
                            const coll_shape *call, const coll_choices *choices) {
    if (!(choices->of[0].predicted > 0))
        return;
    pthread_mutex_lock(&cache->lock);
    cached_choice *one = find_cached(cache, asked, started, call);
    if (!one && (one = malloc(sizeof *one))) {
        one->next = cache->first;
        cache->first = one;
    }
    if (one)
        *one = (cached_choice){.next = one->next,
                               .asked = *asked,
                               .started = started,
                               .call = *call,
                               .latencies = latency_checksum(call->topo),
                               .choices = *choices};
    pthread_mutex_unlock(&cache->lock);
}
