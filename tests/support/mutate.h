/* Damaged files, which readers must take or refuse cleanly. */
#ifndef COLL_TESTS_SUPPORT_MUTATE_H
#define COLL_TESTS_SUPPORT_MUTATE_H

#include "tests/support/generator.h"

#include <stddef.h>

/*
 * Cuts off what is behind AT of SIZE bytes, or removes or doubles the RUN bytes there, and returns
 * the new size; BYTES has room for that. WAY is any other number: nothing changes.
 */
enum { MUTATE_CUT, MUTATE_REMOVE, MUTATE_DOUBLE, MUTATE_WAYS };
size_t mutate_run(void *bytes, size_t size, size_t at, size_t run, int way);

/*
 * A copy of the *LENGTH bytes of TEXT with a few changes: bytes replaced by some of the COUNT in
 * BYTES, removed, doubled or cut off. *LENGTH becomes the copy's; a sanitizer sees reads past it.
 * The caller frees it.
 */
char *mutate(const char *text, size_t *length, const char *bytes, int count, generator *g);

#endif
