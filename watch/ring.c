/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/ring.h"

#include <stddef.h>

enum { LINE = 64 };
static _Alignas(LINE) watch_record ring[WATCH_RING];
static uint64_t latest;

static bool is_open(const watch_record *record) {
    return __atomic_load_n(&record->serial, __ATOMIC_RELAXED) != 0 &&
           __atomic_load_n(&record->ended, __ATOMIC_RELAXED) == 0;
}

watch_record *watch_ring_claim(uint64_t *serial) {
    watch_record *record;
    int tries = 0;
    do {
        *serial = __atomic_add_fetch(&latest, 1, __ATOMIC_RELAXED);
        record = &ring[*serial % WATCH_RING];
    } while (is_open(record) && ++tries < WATCH_RING);
    /* Bring the slot of the next call into the cache in advance. */
    const char *next = (const char *)&ring[(*serial + 1) % WATCH_RING];
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + LINE, 1);
    __atomic_store_n(&record->serial, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return record;
}

void watch_ring_filled(watch_record *record, uint64_t serial) {
    __atomic_store_n(&record->serial, serial, __ATOMIC_RELEASE);
}

uint64_t watch_ring_latest(void) {
    return __atomic_load_n(&latest, __ATOMIC_ACQUIRE);
}

bool watch_ring_read(uint64_t serial, watch_record *copy) {
    const watch_record *record = &ring[serial % WATCH_RING];
    if (serial == 0 || __atomic_load_n(&record->serial, __ATOMIC_ACQUIRE) != serial)
        return false;
    *copy = *record;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&record->serial, __ATOMIC_RELAXED) == serial;
}
