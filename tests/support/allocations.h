/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes allocations fail in a test with one source file. The linker redirects the allocations of
 * libcoll and of the test to this file (--wrap in tests/local.mk). Those of the MPI library are not
 * affected.
 */
#ifndef COLL_TESTS_SUPPORT_ALLOCATIONS_H
#define COLL_TESTS_SUPPORT_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t bytes);

/*
 * Each allocation decreases this, and the one that reaches 0 fails. No allocation fails if it is 0
 * or less.
 */
static int allocation_countdown;

/* If not 0, the next allocation of this many bytes fails and sets it to 0. */
static size_t failing_bytes;

static bool allocation_fails(size_t bytes) {
    if (bytes > 0 && bytes == failing_bytes) {
        failing_bytes = 0;
        return true;
    }
    return allocation_countdown > 0 && --allocation_countdown == 0;
}

void *__wrap_malloc(size_t bytes) {
    return allocation_fails(bytes) ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t size) {
    return allocation_fails(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t bytes) {
    return allocation_fails(bytes) ? NULL : __real_realloc(memory, bytes);
}

#endif
