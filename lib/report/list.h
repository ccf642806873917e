/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a short list in order, such as that of the most expensive calls. Pure. */
#ifndef COLL_LIB_REPORT_LIST_H
#define COLL_LIB_REPORT_LIST_H

#include <stddef.h>
#include <string.h>

/*
 * Inserts NEXT, of SIZE bytes, into the *COUNT elements of LIST, behind all elements that COMPARE
 * does not order after NEXT. LIST has memory for MOST elements: if LIST is full, the last element
 * is dropped, or NEXT if its place would be behind the last element.
 */
static inline void coll_list_insert(void *list, int *count, int most, const void *next, size_t size,
                                    int (*compare)(const void *, const void *)) {
    char *elements = list;
    int at = *count;
    while (at > 0 && compare(elements + (size_t)(at - 1) * size, next) > 0)
        at--;
    if (at == most)
        return;
    *count += *count < most;
    memmove(elements + (size_t)(at + 1) * size, elements + (size_t)at * size,
            (size_t)(*count - 1 - at) * size);
    memcpy(elements + (size_t)at * size, next, size);
}

#endif
