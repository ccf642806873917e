/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws the report: the time in each row's calls, and the time that the MPI library's own algorithm
 * takes for them.
 */
#include "config.h"

#include "lib/base/c_locale.h"
#include "lib/base/xml.h"
#include "lib/report/advice.h"

#include <math.h>
#include <string.h>

enum {
    ROWS = 16,   /* the most that are drawn */
    HEIGHT = 24, /* of a row */
    BAR = 14,
    TOP = 56,
    LEFT = 250,
    WIDTH = 560, /* of the longest bar */
    RIGHT = 90
};

static double own_seconds(const coll_summary *all, const coll_report_row *row) {
    return row->inside / all->ranks;
}

/* Returns the seconds that the MPI library's own algorithm would have taken; -1 if unknown. */
static double native_seconds(const coll_summary *all, const coll_report_row *row) {
    if (!(row->estimated > 0))
        return -1;
    return fmax(row->inside + row->saved.middle, 0) / all->ranks;
}

static void draw_bar(FILE *stream, double y, double height, double width, const char *style) {
    fprintf(stream, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s/>\n", LEFT, y,
            width, height, style);
}

static void draw_row(FILE *stream, const coll_summary *all, const coll_report_row *row, int nth,
                     double longest) {
    const double y = TOP + nth * HEIGHT, own = own_seconds(all, row),
                 native = native_seconds(all, row), per_second = WIDTH / longest,
                 transferring = coll_advice_transferring_share(all, row->operation);
    fprintf(stream, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8, y + BAR - 2);
    coll_xml_write(stream, row->operation);
    fprintf(stream, " %zu B, ", coll_report_row_bytes(row));
    coll_xml_write(stream, row->algorithm);
    fputs("</text>\n", stream);
    draw_bar(stream, y, BAR, own * per_second, "fill=\"#c6d8ef\"");
    draw_bar(stream, y, BAR, own * per_second * transferring, "fill=\"#1a55a0\"");
    if (native >= 0 && row->source != COLL_REPORT_NATIVE)
        draw_bar(stream, y - 2, BAR + 4, native * per_second,
                 "fill=\"none\" stroke=\"#d62728\" stroke-dasharray=\"4 2\"");
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\">%.3g s</text>\n",
            LEFT + fmax(own, native) * per_second + 6, y + BAR - 2, own);
}

static void draw_advice(FILE *stream, const coll_advice advice[], int count, double y) {
    for (int i = 0; i < count; i++) {
        fprintf(stream, "<text x=\"12\" y=\"%.1f\">%d. ", y + i * HEIGHT, i + 1);
        coll_xml_write(stream, advice[i].what);
        fprintf(stream, ": %s%.3g s less; ", advice[i].at_most ? "at most " : "",
                advice[i].seconds);
        coll_xml_write(stream, advice[i].setting);
        fputs("</text>\n", stream);
    }
}

bool coll_summary_print_svg(FILE *stream, const void *summary) {
    const coll_summary *all = summary;
    const int rows = all->count < ROWS ? all->count : ROWS;
    coll_advice advice[COLL_ADVICE_MOST];
    const locale_t before = coll_c_locale_begin();
    const int recommendations = coll_advice_make(all, advice);
    double longest = 1e-9;
    for (int i = 0; i < rows; i++)
        longest = fmax(longest,
                       fmax(own_seconds(all, &all->rows[i]), native_seconds(all, &all->rows[i])));
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"12\" y=\"20\" font-weight=\"bold\">collectives of %d ranks on %d host%s in "
            "%.3g s, mean of the ranks</text>\n"
            "<text x=\"12\" y=\"38\">dark: transferring, light: waiting for late ranks, red: "
            "the MPI library's own algorithm, estimated or measured</text>\n",
            LEFT + WIDTH + RIGHT, TOP + (rows + recommendations + 1) * HEIGHT, all->ranks,
            all->hosts, all->hosts == 1 ? "" : "s", all->seconds);
    for (int i = 0; i < rows; i++)
        draw_row(stream, all, &all->rows[i], i, longest);
    draw_advice(stream, advice, recommendations, TOP + (rows + 1) * HEIGHT);
    fputs("</svg>\n", stream);
    coll_c_locale_end(before);
    return !ferror(stream);
}
