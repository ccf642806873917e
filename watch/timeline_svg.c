/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/timeline_svg.h"

#include "lib/base/xml.h"
#include "watch/calls.h"

#include <errno.h>
#include <string.h>

enum {
    LEFT = 70,
    RIGHT = 40,
    TOP = 44,
    AXIS = 44, /* height of the time axis */
    TALLEST = 18,
    SMALLEST = 4,
    PICTURE = 900
};

/* How a span of time is drawn. From FIRST on, these are the collectives in NAMED. */
enum { COMPUTES, WAITS, MESSAGES, OTHER, FIRST, SORTS = FIRST + WATCH_COLOURS };

static const char *const colours[SORTS] = {[COMPUTES] = "#eeeeee",
                                           [WAITS] = "#333333",
                                           [MESSAGES] = "#5b9bd5",
                                           [OTHER] = "#a0a0a0",
                                           "#d62728",
                                           "#2ca02c",
                                           "#ff7f0e",
                                           "#9467bd",
                                           "#17becf",
                                           "#bcbd22",
                                           "#e377c2",
                                           "#8c564b",
                                           "#1a55a0",
                                           "#f7b6a0",
                                           "#98df8a",
                                           "#c5b0d5"};

/* Draws the time axis below the rows. It starts at the first call. */
static void draw_axis(const watch_timeline_svg *picture) {
    static const struct {
        const char *name;
        double nanoseconds;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"\302\265s", 1e3}};
    double span = (double)(picture->to - picture->from), step = 1;
    int unit = span >= 2e9 ? 0 : span >= 2e6 ? 1 : 2, y = TOP + picture->ranks * picture->height;
    for (int i = 0; span / step > 10; i++)
        step *= i % 3 == 1 ? 2.5 : 2;
    for (int i = 0; i * step <= span; i++) {
        double x = LEFT + i * step * WATCH_COLUMNS / span;
        fprintf(picture->file,
                "<path d=\"M%.1f %dv5\" stroke=\"#555555\"/>"
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
                x, y, x, y + 17, i * step / units[unit].nanoseconds);
    }
    fprintf(picture->file, "<text x=\"%d\" y=\"%d\">time since the first call shown (%s)</text>\n",
            LEFT, y + 33, units[unit].name);
}

void watch_timeline_svg_begin(watch_timeline_svg *picture, int ranks, uint64_t from, uint64_t to) {
    int height = PICTURE / (ranks > 0 ? ranks : 1);
    picture->ranks = ranks;
    picture->height = height > TALLEST ? TALLEST : height < SMALLEST ? SMALLEST : height;
    picture->from = from;
    picture->to = to > from ? to : from + 1;
    picture->names = 0;
    if (!picture->file)
        return;
    int rows = ranks * picture->height;
    fprintf(picture->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"18\" font-size=\"14\" font-weight=\"bold\">",
            LEFT + WATCH_COLUMNS + RIGHT, TOP + rows + AXIS + 50, LEFT);
    coll_xml_write(picture->file, program_invocation_short_name);
    fprintf(picture->file,
            " on %d rank%s</text>\n"
            "<text x=\"%d\" y=\"34\">the last %.6f s until MPI_Finalize: at most the last 4096 "
            "calls of each rank</text>\n",
            ranks, ranks == 1 ? "" : "s", LEFT, (double)(picture->to - picture->from) * 1e-9);
    draw_axis(picture);
}

static int sort_of_call(watch_timeline_svg *picture, const watch_record *call) {
    switch (watch_calls[call->call].waits) {
    case WATCH_COLLECTIVE:
        break;
    case WATCH_SEND:
    case WATCH_EXCHANGE:
    case WATCH_START:
        return MESSAGES;
    case WATCH_RECEIVE:
    case WATCH_PROBE:
    case WATCH_REQUESTS:
        return WAITS;
    default:
        return OTHER;
    }
    for (int i = 0; i < picture->names; i++)
        if (picture->named[i] == call->call)
            return FIRST + i;
    if (picture->names == WATCH_COLOURS)
        return OTHER;
    picture->named[picture->names] = call->call;
    return FIRST + picture->names++;
}

/* Adds a span, from BEGIN to END in columns, to the shares of SORT. */
static void add_span(float shares[WATCH_COLUMNS][SORTS], double begin, double end, int sort) {
    for (int column = (int)begin; column < WATCH_COLUMNS && column < end; column++) {
        double from = begin > column ? begin : column, to = end < column + 1 ? end : column + 1;
        shares[column][sort] += (float)(to - from);
    }
}

static int largest_share(const float shares[SORTS]) {
    int most = COMPUTES;
    float rest = 1;
    for (int sort = 1; sort < SORTS; sort++)
        rest -= shares[sort];
    for (int sort = 1; sort < SORTS; sort++)
        if (shares[sort] > (most == COMPUTES ? rest : shares[most]))
            most = sort;
    return most;
}

void watch_timeline_svg_rank(watch_timeline_svg *picture, int rank, const watch_record calls[],
                             uint32_t count) {
    static float shares[WATCH_COLUMNS][SORTS];
    if (!picture->file)
        return;
    memset(shares, 0, sizeof shares);
    double scale = (double)WATCH_COLUMNS / (double)(picture->to - picture->from);
    for (uint32_t i = 0; i < count; i++)
        if (calls[i].begun >= picture->from)
            add_span(shares, (double)(calls[i].begun - picture->from) * scale,
                     (double)(calls[i].ended - picture->from) * scale,
                     sort_of_call(picture, &calls[i]));
    int y = TOP + rank * picture->height;
    if (picture->height >= 10 || rank % 10 == 0)
        fprintf(picture->file, "<text x=\"4\" y=\"%d\">rank %d</text>\n", y + 10, rank);
    for (int column = 0, next; column < WATCH_COLUMNS; column = next) {
        int sort = largest_share(shares[column]);
        for (next = column + 1; next < WATCH_COLUMNS && largest_share(shares[next]) == sort;)
            next++;
        fprintf(picture->file, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n",
                LEFT + column, y, next - column, picture->height - 1, colours[sort]);
    }
}

void watch_timeline_svg_end(watch_timeline_svg *picture) {
    static const char *const names[] = {"computes (no MPI call)", "waits", "sends",
                                        "other MPI calls"};
    if (!picture->file)
        return;
    int y = TOP + picture->ranks * picture->height + AXIS, x = LEFT;
    for (int sort = 0; sort < FIRST + picture->names; sort++) {
        const char *name =
            sort < FIRST ? names[sort] : watch_calls[picture->named[sort - FIRST]].name;
        if (x > LEFT + WATCH_COLUMNS - 150) {
            x = LEFT;
            y += 18;
        }
        fprintf(picture->file,
                "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                "<text x=\"%d\" y=\"%d\">%s</text>\n",
                x, y, colours[sort], x + 16, y + 10, name);
        x += 34 + 7 * (int)strlen(name);
    }
    fprintf(picture->file, "</svg>\n");
}
