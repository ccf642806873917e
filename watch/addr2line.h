/* SPDX-License-Identifier: BSD-3-Clause */
/* Source lines of places in the program. */
#ifndef COLL_WATCH_ADDR2LINE_H
#define COLL_WATCH_ADDR2LINE_H

#include "watch/record.h"

enum { WATCH_LINES = 40 };

typedef char watch_source_line[128];

/*
 * Writes "file.c:12" to LINES for each of the first WATCH_LINES of COUNT places, or "" if
 * addr2line(1) is not installed, doesn't know the place, or takes too long.
 */
void watch_addr2line_find(const watch_place *const places[], watch_source_line lines[], int count);

#endif
