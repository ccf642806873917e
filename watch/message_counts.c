/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/message_counts.h"

#include "watch/communicators.h"

#include <pthread.h>
#include <stddef.h>

enum { PLACES = 512, TRIES = 24 };
static watch_message_count places[PLACES]; /* an entry is free if its COMM is 0 */
static bool unreliable;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static watch_message_count *place_of(const watch_message_count *key, int try) {
    uint64_t hash = key->comm ^ (uint64_t)(uint32_t)key->peer * 0x9e3779b97f4a7c15u ^
                    (uint64_t)(uint32_t)key->tag * 0xc2b2ae3d27d4eb4fu ^ key->received;
    return &places[((hash ^ hash >> 29) + (uint64_t)try) % PLACES];
}

static bool has_key(const watch_message_count *place, const watch_message_count *key) {
    return __atomic_load_n(&place->comm, __ATOMIC_ACQUIRE) == key->comm &&
           place->peer == key->peer && place->tag == key->tag && place->received == key->received;
}

static watch_message_count *look_up(const watch_message_count *key) {
    for (int try = 0; try < TRIES; try++) {
        watch_message_count *place = place_of(key, try);
        if (has_key(place, key))
            return place;
        if (!place->comm)
            return NULL;
    }
    return NULL;
}

static watch_message_count *add_entry(const watch_message_count *key) {
    pthread_mutex_lock(&lock);
    watch_message_count *place = look_up(key);
    for (int try = 0; !place && try < TRIES; try++)
        if (!place_of(key, try)->comm)
            place = place_of(key, try);
    if (!place)
        unreliable = true;
    else if (!place->comm) {
        place->peer = key->peer;
        place->tag = key->tag;
        place->received = key->received;
        __atomic_store_n(&place->comm, key->comm, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return place;
}

static void increment_count(watch_message_count key) {
    if (unreliable || !key.comm)
        return;
    watch_message_count *place = look_up(&key);
    if (!place)
        place = add_entry(&key);
    if (place)
        __atomic_add_fetch(&place->count, 1, __ATOMIC_RELAXED);
}

void watch_message_counts_sent(uint64_t comm, int peer, int tag) {
    increment_count((watch_message_count){.comm = comm, .peer = peer, .tag = tag});
}

void watch_message_counts_received(uint64_t comm, int peer, int tag) {
    increment_count((watch_message_count){.comm = comm, .peer = peer, .tag = tag, .received = 1});
}

void watch_message_counts_invalidate(void) {
    unreliable = true;
}

int watch_message_counts_list(watch_message_count list[], int room, bool *overflown) {
    int found = 0;
    pthread_mutex_lock(&lock);
    *overflown = unreliable;
    for (int i = 0; i < PLACES && found < room; i++)
        if (places[i].comm)
            list[found++] = places[i];
    pthread_mutex_unlock(&lock);
    return found;
}
