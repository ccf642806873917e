/* A picture of what ranks did: ranks down, time to the right, collectives in colours, waiting dark.
 */
#ifndef COLL_WATCH_OVERVIEW_H
#define COLL_WATCH_OVERVIEW_H

#include "watch/record.h"

#include <stdio.h>

enum { WATCH_COLUMNS = 1200, WATCH_COLOURS = 12 };

typedef struct watch_overview {
    FILE *file; /* NULL: nothing is drawn */
    int ranks, height;
    uint64_t from, to;
    uint16_t named[WATCH_COLOURS]; /* the collectives that have a colour of their own */
    int names;
} watch_overview;

/* An SVG of RANKS ranks from the time FROM up to TO, in nanoseconds. */
void watch_overview_begin(watch_overview *overview, int ranks, uint64_t from, uint64_t to);

/* The row of RANK, whose COUNT calls are in order of time. */
void watch_overview_rank(watch_overview *overview, int rank, const watch_record calls[],
                         uint32_t count);

void watch_overview_end(watch_overview *overview);

#endif
