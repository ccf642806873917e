/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/reserve_alloc.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RESERVE = 64 << 10 };

/* The reserve is allocated from its front. It is empty again when all pieces have been freed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static alignas(max_align_t) char reserve[RESERVE];
static size_t taken;
static int pieces;

static bool is_reserve(const void *memory) {
    uintptr_t place = (uintptr_t)memory;
    return place >= (uintptr_t)reserve && place < (uintptr_t)reserve + RESERVE;
}

static void *take_from_reserve(size_t bytes) {
    void *memory = NULL;
    size_t unit = alignof(max_align_t), rounded = (bytes + unit - 1) / unit * unit;
    pthread_mutex_lock(&lock);
    if (bytes <= RESERVE && rounded <= RESERVE - taken) {
        memory = reserve + taken;
        taken += rounded;
        pieces++;
    }
    pthread_mutex_unlock(&lock);
    return memory;
}

void *coll_reserve_alloc(size_t bytes) {
    bytes = bytes ? bytes : 1;
    void *memory = malloc(bytes);
    return memory ? memory : take_from_reserve(bytes);
}

void *coll_reserve_calloc(size_t count, size_t size) {
    if (size && count > SIZE_MAX / size)
        return NULL;
    void *memory = coll_reserve_alloc(count * size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

void *coll_reserve_shrink(void *memory, size_t bytes) {
    void *cut = is_reserve(memory) ? NULL : realloc(memory, bytes);
    return cut ? cut : memory;
}

void coll_reserve_free(void *memory) {
    if (!is_reserve(memory)) {
        free(memory);
        return;
    }
    pthread_mutex_lock(&lock);
    if (--pieces == 0)
        taken = 0;
    pthread_mutex_unlock(&lock);
}
