/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/info/call_svg.h"

#include "app/agreement.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* All lengths are integers in tenths of a pixel, so that the output does not depend on the locale.
 */
enum {
    NAMES = 2000,
    PLOT = 8600,
    MARGIN = 2500,
    TOP = 1200,
    BOTTOM = 520,
    ROW_MOST = 340,
    ROW_LEAST = 110,
    ROWS = 6400, /* height into which many rows should fit */
    TICKS = 10   /* maximum number of ticks on the time axis */
};

enum { ARROWS_MOST = 2000 };

typedef struct rack {
    int64_t in, out; /* bytes over its uplink */
    int first, last; /* positions */
} rack;

typedef struct line {
    int position;
    int64_t first; /* when the rank has its first data */
    int64_t last;  /* when the rank's last message leaves, perhaps after the rank's end */
} line;

typedef struct picture {
    const call_svg_input *input;
    COLL_Simulation call;
    FILE *stream;
    int ranks, row;
    line *lines;    /* by rank */
    size_t longest; /* bytes of the longest message */
    rack *racks;
    int64_t total; /* time of the call */
    uint64_t messages, with_data[COLL_LEVELS], empty[COLL_LEVELS], every;
} picture;

static const char *const colour[COLL_LEVELS] = {[COLL_LEVEL_NUMA] = "#4fae7b",
                                                [COLL_LEVEL_NODE] = "#1d7a4c",
                                                [COLL_LEVEL_RACK] = "#2a6fbb",
                                                [COLL_LEVEL_SITE] = "#d9541e",
                                                [COLL_LEVEL_WIDE] = "#7b2fa3"};
static const char *const meaning[COLL_LEVELS] = {[COLL_LEVEL_NUMA] = "within a NUMA domain",
                                                 [COLL_LEVEL_NODE] = "within a host",
                                                 [COLL_LEVEL_RACK] = "within a rack",
                                                 [COLL_LEVEL_SITE] = "between racks",
                                                 [COLL_LEVEL_WIDE] = "between sites"};

/* --- Texts --- */

static void write_text(FILE *stream, const char *text) {
    for (; *text; text++)
        if (*text == '&' || *text == '<' || *text == '>')
            fprintf(stream, "&#%d;", *text);
        else
            fputc(*text, stream);
}

/* A series of units; each is TIMES the previous one. */
typedef struct scale {
    int64_t times;
    const char *units[6];
} scale;
static const scale times_scale = {1000, {"ns", "µs", "ms", "s"}};
static const scale bytes_scale = {1024, {"bytes", "KB", "MB", "GB", "TB"}};

/* Writes VALUE in the unit that suits LIKE, with up to two decimals if it is below 100: "1.05 ms".
 */
static void write_number(FILE *stream, const scale *in, int64_t value, int64_t like) {
    int64_t one = 1;
    int unit = 0;
    for (; in->units[unit + 1] && like / one >= in->times; unit++)
        one *= in->times;
    int64_t rounded = value + (one > 100 ? one / 200 : 0), whole = rounded / one,
            hundredths = rounded % one * 100 / one;
    if (whole >= 100 || hundredths == 0)
        fprintf(stream, "%" PRId64 " %s", whole, in->units[unit]);
    else if (whole >= 10 || hundredths % 10 == 0)
        fprintf(stream, "%" PRId64 ".%" PRId64 " %s", whole, hundredths / 10, in->units[unit]);
    else
        fprintf(stream, "%" PRId64 ".%02" PRId64 " %s", whole, hundredths, in->units[unit]);
}

static void write_time(FILE *stream, int64_t nanoseconds) {
    write_number(stream, &times_scale, nanoseconds, nanoseconds);
}

static void write_bytes(FILE *stream, int64_t bytes) {
    write_number(stream, &bytes_scale, bytes, bytes);
}

static const char *plural(int64_t count) {
    return count == 1 ? "" : "s";
}

/* --- Places --- */

static int64_t x_of(const picture *p, int64_t time) {
    return NAMES + (int64_t)((double)time / (double)p->total * PLOT + 0.5);
}

static int y_of(const picture *p, int position) {
    return TOP + position * p->row + p->row / 2;
}

/* Returns when RANK is done: at its end or, if that is later, when its last message leaves. */
static int64_t time_done(const picture *p, int rank) {
    return p->call.ends[rank] > p->lines[rank].last ? p->call.ends[rank] : p->lines[rank].last;
}

static int bottom_of(const picture *p) {
    return TOP + p->ranks * p->row;
}

/* --- Simulation --- */

static void count_message(const COLL_Message *message, void *context) {
    picture *p = context;
    line *sender = &p->lines[message->from], *receiver = &p->lines[message->to];
    int from = p->call.places[message->from].rack, to = p->call.places[message->to].rack;
    p->messages++;
    p->longest = message->bytes > p->longest ? message->bytes : p->longest;
    if (message->start > sender->last)
        sender->last = message->start;
    (message->bytes ? p->with_data : p->empty)[message->level]++;
    if (from != to) {
        p->racks[from].out += (int64_t)message->bytes;
        p->racks[to].in += (int64_t)message->bytes;
    }
    if (message->bytes && message->end < receiver->first)
        receiver->first = message->end;
}

/* Draws a message as an arrow from its start at the sender to its arrival at the receiver. */
static void draw_message(const COLL_Message *message, void *context) {
    picture *p = context;
    if (message->nth % p->every)
        return;
    int from = y_of(p, p->lines[message->from].position),
        to = y_of(p, p->lines[message->to].position);
    fprintf(p->stream, "<path class=\"%c%d\" d=\"M%" PRId64 " %dL%" PRId64 " %d\"/>\n",
            message->bytes ? 'a' : 'e', (int)message->level, x_of(p, message->start), from,
            x_of(p, message->arrival), to);
}

static int simulate(picture *p, void (*see)(const COLL_Message *message, void *context)) {
    p->call.see = see;
    p->call.context = p;
    return COLL_Simulate(p->input->question, p->input->spec, p->input->comm, &p->call);
}

/* --- Parts of the picture --- */

static void draw_styles(const picture *p) {
    FILE *out = p->stream;
    fprintf(out,
            "<style>text{font:115px Helvetica,Arial,sans-serif;fill:#222}"
            ".t{font-size:190px;font-weight:bold}.s{font-size:125px;fill:#555}"
            ".n{font-size:%dpx}.k{font-weight:bold;fill:#555}.q{fill:#777}"
            "path{fill:none;stroke-width:%d}.r{stroke:#c9ced3;stroke-width:6}"
            ".h{stroke:#8b949c;stroke-width:18}.g{stroke:#b9bfc5;stroke-width:5}"
            ".z{stroke:#111;stroke-width:10;stroke-dasharray:40 30}</style>\n<defs>\n",
            p->row * 2 / 3 < 115 ? p->row * 2 / 3 : 115, p->messages > 500 ? 8 : 12);
    for (int level = 0; level < COLL_LEVELS; level++)
        if (p->with_data[level] + p->empty[level])
            fprintf(out,
                    "<marker id=\"m%d\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" "
                    "markerUnits=\"userSpaceOnUse\" markerWidth=\"75\" markerHeight=\"75\" "
                    "orient=\"auto\"><path d=\"M0 1L10 5L0 9z\" style=\"fill:%s\"/></marker>\n"
                    "<style>.a%d,.e%d{stroke:%s;marker-end:url(#m%d)}"
                    ".e%d{stroke-dasharray:25 25;opacity:.55}</style>\n",
                    level, colour[level], level, level, colour[level], level, level);
    fprintf(out, "</defs>\n");
}

static void draw_title(const picture *p) {
    const COLL_Question *asked = p->input->question;
    const COLL_Simulation *call = &p->call;
    FILE *out = p->stream;
    fprintf(out, "<text class=\"t\" x=\"150\" y=\"290\">%s of ", asked->operation);
    write_bytes(out, (int64_t)asked->bytes);
    fprintf(out, " by %.*s: ", (int)strcspn(call->spec, ":"), call->spec);
    write_time(out, p->total);
    fprintf(out,
            "</text>\n<text class=\"s\" x=\"150\" y=\"490\">%d rank%s on %d host%s in %d rack%s",
            p->ranks, plural(p->ranks), call->nodes, plural(call->nodes), call->racks,
            plural(call->racks));
    if (call->sites > 1)
        fprintf(out, " of %d sites", call->sites);
    if (call->root >= 0)
        fprintf(out, ", root %d", call->root);
    fputs("; ", out);
    write_text(out, call->spec);
    fprintf(out, ", messages of up to ");
    write_bytes(out, (int64_t)p->longest);
    fprintf(out, "; costs: ");
    write_text(out, p->input->profile);
    fprintf(out, "; %" PRIu64 " message%s", p->messages, plural((int64_t)p->messages));
    if (p->every > 1)
        fprintf(out, ", of which 1 in %" PRIu64 " between two ranks is drawn", p->every);
    fprintf(out, "</text>\n");
}

static int draw_key(const picture *p, int x, const char *style, const char *text) {
    int letters = 0;
    for (const char *c = text; *c; c++)
        letters++;
    fprintf(p->stream, "<path class=\"%s\" d=\"M%d 740H%d\"/><text x=\"%d\" y=\"780\">%s</text>\n",
            style, x, x + 420, x + 490, text);
    return x + 490 + letters * 62 + 300;
}

static void draw_legend(const picture *p) {
    bool empty = false;
    int x = NAMES, last = 0;
    char style[] = "a0";
    for (int level = 0; level < COLL_LEVELS; level++) {
        style[0] = 'a';
        style[1] = (char)('0' + level);
        if (p->with_data[level])
            x = draw_key(p, x, style, meaning[level]);
        if (p->empty[level]) {
            empty = true;
            last = level;
        }
    }
    style[0] = 'e';
    style[1] = (char)('0' + last);
    if (empty)
        x = draw_key(p, x, style, "an empty message");
    x = draw_key(p, x, "h", "has data");
    fprintf(p->stream,
            "<circle cx=\"%d\" cy=\"740\" r=\"45\" fill=\"#111\"/><text x=\"%d\" y=\"780\">"
            "is done</text>\n",
            x, x + 110);
}

/* Returns the least of 1, 2 and 5 times a power of ten that gives at most TICKS ticks. */
static int64_t tick_interval(int64_t total) {
    static const int64_t steps[] = {1, 2, 5};
    for (int64_t ten = 1;; ten *= 10)
        for (int i = 0; i < 3; i++)
            if (total / (steps[i] * ten) < TICKS)
                return steps[i] * ten;
}

static void draw_axis(const picture *p) {
    FILE *out = p->stream;
    int bottom = bottom_of(p);
    int64_t tick = tick_interval(p->total);
    for (int64_t time = 0; time <= p->total; time += tick) {
        int64_t x = x_of(p, time);
        fprintf(out,
                "<path class=\"g\" d=\"M%" PRId64 " %dV%d\"/>"
                "<text class=\"q\" text-anchor=\"middle\" x=\"%" PRId64 "\" y=\"%d\">",
                x, TOP, bottom + 60, x, bottom + 210);
        write_number(out, &times_scale, time, p->total);
        fprintf(out, "</text>\n");
    }
    fprintf(out,
            "<path class=\"z\" d=\"M%d %dV%d\"/>"
            "<text class=\"k\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">",
            NAMES + PLOT, TOP - 60, bottom + 60, NAMES + PLOT, TOP - 90);
    write_time(out, p->total);
    fprintf(out, "</text>\n");
}

/* Draws a bar in proportion to BYTES. A bar for MOST bytes, the maximum over all uplinks, has the
 * full length. */
static void draw_uplink(const picture *p, int y, const char *way, int64_t bytes, int64_t most) {
    const int x = NAMES + PLOT + 250;
    int length = (int)((double)bytes / (double)most * 700);
    fprintf(p->stream,
            "<text class=\"q\" x=\"%d\" y=\"%d\">%s</text><path d=\"M%d %dh%d\" "
            "style=\"stroke:%s;stroke-width:80\"/><text x=\"%d\" y=\"%d\">",
            x, y + 40, way, x + 270, y, length, colour[COLL_LEVEL_SITE], x + 340 + length, y + 40);
    write_bytes(p->stream, bytes);
    fprintf(p->stream, "</text>\n");
}

static void draw_rack(const picture *p, int number, int64_t most) {
    static const char *const tint[] = {"#eaf2fb", "#fdf2e4", "#ebf7ec",
                                       "#fbecf2", "#f2effb", "#f6f6e6"};
    const rack *one = &p->racks[number];
    int y = TOP + one->first * p->row, height = (one->last - one->first + 1) * p->row;
    fprintf(p->stream,
            "<rect x=\"100\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>"
            "<text class=\"k\" x=\"180\" y=\"%d\">rack %d</text>\n",
            y, NAMES + PLOT + MARGIN - 200, height, tint[number % 6],
            y_of(p, one->first) + (height < 115 ? height / 3 : 40), number);
    if (most == 0)
        return;
    int gap = height < 300 ? height / 2 : 160;
    draw_uplink(p, y + height / 2 - gap / 2, "in", one->in, most);
    draw_uplink(p, y + height / 2 + gap / 2, "out", one->out, most);
}

static void draw_racks(const picture *p) {
    int64_t most = 0;
    for (int i = 0; i < p->call.racks; i++) {
        most = p->racks[i].in > most ? p->racks[i].in : most;
        most = p->racks[i].out > most ? p->racks[i].out : most;
    }
    for (int i = 0; i < p->call.racks; i++)
        draw_rack(p, i, most);
    if (most > 0)
        fprintf(p->stream, "<text class=\"k\" x=\"%d\" y=\"%d\">over the rack's uplink</text>\n",
                NAMES + PLOT + 450, TOP - 90);
}

static void draw_line(const picture *p, int position) {
    int rank = p->call.order[position], y = y_of(p, position);
    const COLL_Place *place = &p->call.places[rank];
    FILE *out = p->stream;
    fprintf(out, "<text class=\"n\" text-anchor=\"end\" x=\"%d\" y=\"%d\">", NAMES - 120,
            y + (p->row < 170 ? p->row / 4 : 40));
    if (place->host)
        write_text(out, place->host);
    else
        fprintf(out, "host %d", place->node);
    fprintf(out, ", rank %d</text><path class=\"r\" d=\"M%d %dh%d\"/>", rank, NAMES, y, PLOT);
    if (p->lines[rank].first <= time_done(p, rank))
        fprintf(out, "<path class=\"h\" d=\"M%" PRId64 " %dH%" PRId64 "\"/>",
                x_of(p, p->lines[rank].first), y, x_of(p, time_done(p, rank)));
    fprintf(out, "\n");
}

static void draw_end(const picture *p, int position) {
    fprintf(p->stream, "<circle cx=\"%" PRId64 "\" cy=\"%d\" r=\"%d\" fill=\"#111\"/>\n",
            x_of(p, time_done(p, p->call.order[position])), y_of(p, position),
            p->row < 170 ? 25 : 45);
}

static int draw_all(picture *p) {
    int width = NAMES + PLOT + MARGIN, height = bottom_of(p) + BOTTOM;
    fprintf(p->stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width / 10, height / 10, width, height);
    draw_styles(p);
    draw_title(p);
    draw_legend(p);
    draw_racks(p);
    draw_axis(p);
    for (int position = 0; position < p->ranks; position++)
        draw_line(p, position);
    int code = simulate(p, draw_message);
    for (int position = 0; position < p->ranks; position++)
        draw_end(p, position);
    fprintf(p->stream, "</svg>\n");
    return code;
}

/* Sets the positions of ranks and racks. The root of a broadcast or scatter has data from time 0;
 * in other operations all ranks do. */
static void place_lines(picture *p) {
    const char *operation = p->input->question->operation;
    const bool from_root = strcmp(operation, "bcast") == 0 || strncmp(operation, "scatter", 7) == 0;
    for (int i = 0; i < p->call.racks; i++)
        p->racks[i].first = p->ranks;
    for (int position = 0; position < p->ranks; position++) {
        const int rank = p->call.order[position];
        rack *one = &p->racks[p->call.places[rank].rack];
        line *here = &p->lines[rank];
        one->first = position < one->first ? position : one->first;
        one->last = position;
        here->position = position;
        if (!from_root || p->call.root == rank)
            here->first = 0;
    }
}

static int draw_call(picture *p) {
    for (int rank = 0; rank < p->ranks; rank++)
        p->lines[rank].first = INT64_MAX;
    int code = simulate(p, count_message);
    if (code != MPI_SUCCESS)
        return code;
    p->total = p->call.time > 0 ? p->call.time : 1;
    p->every = p->messages / ARROWS_MOST + 1;
    p->row = ROWS / p->ranks;
    p->row = p->row > ROW_MOST ? ROW_MOST : p->row < ROW_LEAST ? ROW_LEAST : p->row;
    place_lines(p);
    return draw_all(p);
}

bool call_svg_draw(const call_svg_input *input, int ranks, FILE *stream, app_problem *problem) {
    size_t count = (size_t)ranks;
    picture p = {.input = input,
                 .stream = stream,
                 .ranks = ranks,
                 .call = {.places = calloc(count, sizeof *p.call.places),
                          .order = calloc(count, sizeof *p.call.order),
                          .ends = calloc(count, sizeof *p.call.ends)},
                 .lines = calloc(count, sizeof *p.lines),
                 .racks = calloc(count, sizeof *p.racks)};
    bool good = (p.call.places && p.call.order && p.call.ends && p.lines && p.racks) ||
                app_refuse(problem, "no memory to draw %d ranks", ranks);
    good = good && app_mpi(problem, draw_call(&p));
    free(p.call.places);
    free(p.call.order);
    free(p.call.ends);
    free(p.lines);
    free(p.racks);
    return good;
}
