/* Damaged files, which readers must take or refuse cleanly. */
#ifndef COLL_TESTS_MUTATE_H
#define COLL_TESTS_MUTATE_H

#include "tests/generator.h"

#include <stddef.h>

/*
 * A copy of the *LENGTH bytes of TEXT with a few changes: bytes replaced by some of the COUNT in
 * BYTES, removed, doubled or cut off. *LENGTH becomes the copy's; a sanitizer sees reads past it.
 * The caller frees it.
 */
char *mutate(const char *text, size_t *length, const char *bytes, int count, generator *g);

#endif
