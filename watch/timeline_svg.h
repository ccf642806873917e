/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws what the ranks did as an SVG: a row per rank, time to the right, collectives in colours,
 * and waiting in dark grey. The title has the program's name.
 */
#ifndef COLL_WATCH_TIMELINE_SVG_H
#define COLL_WATCH_TIMELINE_SVG_H

#include "watch/record.h"

#include <stdio.h>

enum { WATCH_COLUMNS = 1200, WATCH_COLOURS = 12 };

typedef struct watch_timeline_svg {
    FILE *file; /* NULL if nothing is to be drawn */
    int ranks, height;
    uint64_t from, to;
    uint16_t named[WATCH_COLOURS]; /* collectives with a colour of their own */
    int names;
} watch_timeline_svg;

/* Begins an SVG of RANKS ranks for the time from FROM to TO, in nanoseconds. */
void watch_timeline_svg_begin(watch_timeline_svg *picture, int ranks, uint64_t from, uint64_t to);

/* Draws the row of RANK, whose COUNT calls are sorted by time. */
void watch_timeline_svg_rank(watch_timeline_svg *picture, int rank, const watch_record calls[],
                             uint32_t count);

/* Draws the legend and ends the SVG. */
void watch_timeline_svg_end(watch_timeline_svg *picture);

#endif
