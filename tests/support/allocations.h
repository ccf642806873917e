/*
 * Allocations that fail, for the one source file of a test. The linker leads libcoll's allocations
 * here (--wrap in tests/local.mk), and the test's own; those of the MPI library are not touched.
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

/* The allocation that fails, counted down to 0 by each; 0 and below: none. */
static int allocation_countdown;

/* The next allocation of so many bytes fails, and makes this 0. */
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
