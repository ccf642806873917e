#include "tests/mutate.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES = 4, RUN = 12 }; /* at most, and how many bytes of one are removed or doubled */

char *mutate(const char *text, size_t *length, const char *bytes, int count, generator *g) {
    size_t left = *length;
    char *copy = malloc(left + CHANGES * RUN);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, left);
    for (int changes = 1 + below(g, CHANGES); changes && left; changes--) {
        size_t at = draw(g) % left, run = 1 + draw(g) % RUN;
        if (run > left - at)
            run = left - at;
        switch (below(g, 8)) {
        case 0:
            left = at;
            break;
        case 1:
            memmove(copy + at, copy + at + run, left - at - run);
            left -= run;
            break;
        case 2:
            memmove(copy + at + run, copy + at, left - at);
            left += run;
            break;
        default:
            copy[at] = bytes[below(g, count)];
        }
    }
    *length = left;
    char *exact = realloc(copy, left + !left);
    ck_assert_ptr_nonnull(exact);
    return exact;
}
