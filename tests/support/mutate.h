/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes damaged files, which readers must read or refuse without crashing. */
#ifndef COLL_TESTS_SUPPORT_MUTATE_H
#define COLL_TESTS_SUPPORT_MUTATE_H

#include "tests/support/generator.h"

#include <stddef.h>

/*
 * Removes everything after AT of SIZE bytes, or removes or doubles the RUN bytes there. Returns the
 * new size, for which BYTES has room. Any other WAY changes nothing.
 */
enum { MUTATE_CUT, MUTATE_REMOVE, MUTATE_DOUBLE, MUTATE_WAYS };
size_t mutate_run(void *bytes, size_t size, size_t at, size_t run, int way);

/*
 * Returns a copy of the *LENGTH bytes of TEXT with a few changes: bytes are replaced by some of the
 * COUNT bytes in BYTES, removed, doubled, or cut off. Sets *LENGTH to the length of the copy, whose
 * size lets a sanitizer see reads past its end. The caller frees it.
 */
char *mutate(const char *text, size_t *length, const char *bytes, int count, generator *g);

#endif
