#include "config.h"

#include "watch/overview.h"

#include "watch/calls.h"

#include <string.h>

enum { LEFT = 70, TOP = 30, TALLEST = 18, SMALLEST = 4, PICTURE = 900 };

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

void watch_overview_begin(watch_overview *overview, int ranks, uint64_t from, uint64_t to) {
    int height = PICTURE / (ranks > 0 ? ranks : 1);
    overview->ranks = ranks;
    overview->height = height > TALLEST ? TALLEST : height < SMALLEST ? SMALLEST : height;
    overview->from = from;
    overview->to = to > from ? to : from + 1;
    overview->names = 0;
    if (!overview->file)
        return;
    int rows = ranks * overview->height;
    fprintf(overview->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"18\">the last %.6f s of %d ranks: at most their last 4096 "
            "calls</text>\n",
            LEFT + WATCH_COLUMNS + 20, TOP + rows + 60, LEFT,
            (double)(overview->to - overview->from) * 1e-9, ranks);
}

static int sort_of_call(watch_overview *overview, const watch_record *call) {
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
    for (int i = 0; i < overview->names; i++)
        if (overview->named[i] == call->call)
            return FIRST + i;
    if (overview->names == WATCH_COLOURS)
        return OTHER;
    overview->named[overview->names] = call->call;
    return FIRST + overview->names++;
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

void watch_overview_rank(watch_overview *overview, int rank, const watch_record calls[],
                         uint32_t count) {
    static float shares[WATCH_COLUMNS][SORTS];
    if (!overview->file)
        return;
    memset(shares, 0, sizeof shares);
    double scale = (double)WATCH_COLUMNS / (double)(overview->to - overview->from);
    for (uint32_t i = 0; i < count; i++)
        if (calls[i].begun >= overview->from)
            add_span(shares, (double)(calls[i].begun - overview->from) * scale,
                     (double)(calls[i].ended - overview->from) * scale,
                     sort_of_call(overview, &calls[i]));
    int y = TOP + rank * overview->height;
    if (overview->height >= 10 || rank % 10 == 0)
        fprintf(overview->file, "<text x=\"4\" y=\"%d\">rank %d</text>\n", y + 10, rank);
    for (int column = 0, next; column < WATCH_COLUMNS; column = next) {
        int sort = largest_share(shares[column]);
        for (next = column + 1; next < WATCH_COLUMNS && largest_share(shares[next]) == sort;)
            next++;
        fprintf(overview->file,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", LEFT + column,
                y, next - column, overview->height - 1, colours[sort]);
    }
}

void watch_overview_end(watch_overview *overview) {
    static const char *const names[] = {"computes", "waits", "sends", "other"};
    if (!overview->file)
        return;
    int y = TOP + overview->ranks * overview->height + 14, x = LEFT;
    for (int sort = 0; sort < FIRST + overview->names; sort++) {
        const char *name =
            sort < FIRST ? names[sort] : watch_calls[overview->named[sort - FIRST]].name;
        if (x > LEFT + WATCH_COLUMNS - 150) {
            x = LEFT;
            y += 18;
        }
        fprintf(overview->file,
                "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                "<text x=\"%d\" y=\"%d\">%s</text>\n",
                x, y, colours[sort], x + 16, y + 10, name);
        x += 34 + 7 * (int)strlen(name);
    }
    fprintf(overview->file, "</svg>\n");
}
