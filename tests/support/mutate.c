/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/mutate.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHANGES = 4,
    RUN = 12
}; /* the most changes, and the bytes that a change removes or doubles */

size_t mutate_run(void *bytes, size_t size, size_t at, size_t run, int way) {
    char *here = (char *)bytes + at;
    switch (way) {
    case MUTATE_CUT:
        return at;
    case MUTATE_REMOVE:
        memmove(here, here + run, size - at - run);
        return size - run;
    case MUTATE_DOUBLE:
        memmove(here + run, here, size - at);
        return size + run;
    default:
        return size;
    }
}

char *mutate(const char *text, size_t *length, const char *bytes, int count, generator *g) {
    size_t left = *length;
    char *copy = malloc(left + CHANGES * RUN);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, left);
    for (int changes = 1 + below(g, CHANGES); changes && left; changes--) {
        size_t at = draw(g) % left, run = 1 + draw(g) % RUN;
        if (run > left - at)
            run = left - at;
        int way = below(g, 8);
        left = mutate_run(copy, left, at, run, way);
        if (way >= MUTATE_WAYS)
            copy[at] = bytes[below(g, count)];
    }
    *length = left;
    char *exact = realloc(copy, left + !left);
    ck_assert_ptr_nonnull(exact);
    return exact;
}
