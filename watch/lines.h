/* Lines of the program's source. */
#ifndef COLL_WATCH_LINES_H
#define COLL_WATCH_LINES_H

#include "watch/record.h"

enum { WATCH_LINES = 40 };

typedef char watch_line[128];

/*
 * Writes "file.c:12" for each of COUNT places, at most WATCH_LINES, or "" where addr2line(1) isn't
 * there, doesn't know it, or takes too long.
 */
void watch_lines_find(const watch_place *const places[], watch_line lines[], int count);

#endif
