/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/profile/sheet.h"

#include "app/drawer.h"
#include "app/json.h"

/* The message sizes of the table's columns, in bytes. */
static const double column_bytes[] = {1, 1 << 10, 32 << 10, 1 << 20};
enum { COLUMNS = sizeof column_bytes / sizeof *column_bytes };

static void print_curve(const char *level, const char *name, const model_curve *curve, FILE *json) {
    double us[COLUMNS];
    if (!curve->points)
        return;
    printf("%-6s %-5s", level, name);
    for (int i = 0; i < COLUMNS; i++) {
        us[i] = COLL_Curve_at(&curve->fitted, column_bytes[i]) * 1e6;
        printf(" %11.3f", us[i]);
    }
    printf(" %6.1f %6.1f%s\n", 100 * curve->fitted.error, 100 * curve->noise,
           curve->noisy ? "  too noisy: left out" : "");
    app_json(json, app_json_text("level", level), app_json_text("parameter", name),
             app_json_number("us_1", us[0]), app_json_number("us_1K", us[1]),
             app_json_number("us_32K", us[2]), app_json_number("us_1M", us[3]),
             app_json_number("error", curve->fitted.error), app_json_number("noise", curve->noise),
             app_json_integer("kept", !curve->noisy));
}

static void print_summary(const survey_level *l, const model_level *level, const char *name,
                          FILE *json) {
    const COLL_Cost *cost = &level->cost;
    printf("%-6s %d pairs: latency %.2f us, overhead %.2f us, %.2f MB/s", name, l->pairs,
           cost->latency * 1e6, cost->overhead * 1e6, 1e-6 / cost->per_byte);
    if (l->relay > 0)
        printf("; waking up %.2f us", cost->wake * 1e6);
    if (l->crowds > 1)
        printf("; each further rank that talks adds %.2f us", cost->per_rank * 1e6);
    if (cost->together > 0)
        printf("; all streams together %.2f MB/s", cost->together * 1e-6);
    if (cost->buffer > 0)
        printf("; BL %.0f bytes", cost->buffer);
    else if (l->flood.steps)
        printf("; BL unknown: no loss up to %.0f bytes", l->flood.bytes[l->flood.steps - 1]);
    puts(level->noisy ? "; TOO NOISY: the level is left out" : "");
    app_json(json, app_json_text("level", name), app_json_integer("pairs", l->pairs),
             app_json_number("latency_us", cost->latency * 1e6),
             app_json_number("overhead_us", cost->overhead * 1e6),
             app_json_number("MBps", 1e-6 / cost->per_byte),
             app_json_number("wake_us", cost->wake * 1e6),
             app_json_number("per_rank_us", cost->per_rank * 1e6),
             app_json_number("together_MBps", cost->together * 1e-6),
             app_json_number("buffer_bytes", cost->buffer),
             app_json_integer("kept", !level->noisy));
}

void sheet_print(const model *m, FILE *json) {
    const survey *s = m->survey;
    printf("# %d ranks; us by size of message, the fit's error and the noise in %%\n", s->ranks);
    printf("%-6s %-5s %11s %11s %11s %11s %6s %6s\n", "level", "", "1 B", "1 KB", "32 KB", "1 MB",
           "error", "noise");
    for (int level = 0; level < COLL_LEVELS; level++) {
        const model_level *l = &m->level[level];
        for (int i = 0; s->level[level].pairs && i < COLL_PARAMETERS; i++)
            print_curve(COLL_Level_name(level), COLL_Parameter_name(i), &l->curve[i], json);
    }
    for (int copy = 0; copy < COLL_COPIES; copy++)
        print_curve("memory", COLL_Copy_name(copy), &m->copy[copy], json);
    putchar('\n');
    for (int level = 0; level < COLL_LEVELS; level++)
        if (s->level[level].pairs)
            print_summary(&s->level[level], &m->level[level], COLL_Level_name(level), json);
}

/* --- The picture --- */

static const char *const level_titles[COLL_LEVELS] = {
    [COLL_LEVEL_NUMA] = "Messages within a NUMA domain (numa)",
    [COLL_LEVEL_NODE] = "Messages between NUMA domains of a host (node)",
    [COLL_LEVEL_RACK] = "Messages between hosts of a rack (rack)",
    [COLL_LEVEL_SITE] = "Messages between racks of a site (site)",
    [COLL_LEVEL_WIDE] = "Messages between sites (wide)"};

static const char *const parameter_titles[COLL_PARAMETERS] = {
    [COLL_SEND_OVERHEAD] = "send overhead",       [COLL_SEND_GAP] = "gap between sends",
    [COLL_TRANSFER] = "time in the network",      [COLL_RECEIVE_GAP] = "gap between arrivals",
    [COLL_ARRIVAL_OVERHEAD] = "arrival overhead", [COLL_RECEIVE_OVERHEAD] = "receive overhead"};

static const char *const copy_titles[COLL_COPIES] = {
    [COLL_COPY_CACHE_TO_CACHE] = "cache to cache",
    [COLL_COPY_CACHE_TO_MEMORY] = "cache to memory",
    [COLL_COPY_MEMORY_TO_MEMORY] = "memory to memory"};

/* The ratio of neighbouring sizes at which curves are drawn: 4 points per factor of 2. */
static const double STEP = 1.189207115;

/* Writes the measured points and the fitted curve as the data blocks $m_NAME and $f_NAME. */
static void write_blocks(FILE *gnuplot, const char *name, const model_curve *curve) {
    fprintf(gnuplot, "$m_%s << E\n", name);
    for (int i = 0; i < curve->points; i++)
        fprintf(gnuplot, "%g %g\n", curve->bytes[i], curve->seconds[i] * 1e6);
    fprintf(gnuplot, "E\n$f_%s << E\n", name);
    for (double bytes = curve->bytes[0]; bytes <= curve->bytes[curve->points - 1] * STEP;
         bytes *= STEP)
        fprintf(gnuplot, "%g %g\n", bytes, COLL_Curve_at(&curve->fitted, bytes) * 1e6);
    fputs("E\n", gnuplot);
}

/*
 * Writes one panel: the curves that have points, each with its dots and its line in one colour. The
 * legend has their TITLES, and their short names in brackets.
 */
static void write_panel(FILE *gnuplot, const char *title, int count, const model_curve curves[],
                        const char *const titles[], const char *(*name_of)(int)) {
    for (int i = 0; i < count; i++)
        if (curves[i].points)
            write_blocks(gnuplot, name_of(i), &curves[i]);
    fprintf(gnuplot, "set title '%s'\nplot", title);
    for (int i = 0; i < count; i++) {
        const char *name = name_of(i);
        if (curves[i].points)
            fprintf(gnuplot,
                    " $m_%s with points pt 7 ps 0.8 lc %d notitle, "
                    "$f_%s with lines lw 2 lc %d title '%s (%s)',",
                    name, i + 1, name, i + 1, titles[i], name);
    }
    fputs(" 1/0 with points pt 7 ps 0.8 lc 'gray40' title 'dots: measured',"
          " 1/0 with lines lw 2 lc 'gray40' title 'lines: fitted'\n",
          gnuplot);
}

static void write_picture(FILE *gnuplot, const void *context) {
    const model *m = context;
    const survey *s = m->survey;
    int panels = s->copied;
    for (int level = 0; level < COLL_LEVELS; level++)
        panels += s->level[level].pairs > 0;
    fprintf(gnuplot,
            "set terminal pngcairo size 1000,%d noenhanced font 'DejaVu Sans,11'\n"
            "set encoding utf8\n"
            "set multiplot layout %d,1 title 'Costs by size, measured by coll-profile on %d "
            "ranks' font ',14'\n"
            "set logscale xy\nset key outside Left reverse\nset grid\n"
            "set format x '%%.0s %%cB'\nset ylabel 'time (µs)'\n"
            "set xlabel 'size of the message (B: bytes, k: 1000)'\n",
            400 * panels + 40, panels, s->ranks);
    for (int level = 0; level < COLL_LEVELS; level++)
        if (s->level[level].pairs)
            write_panel(gnuplot, level_titles[level], COLL_PARAMETERS, m->level[level].curve,
                        parameter_titles, COLL_Parameter_name);
    fputs("set xlabel 'size of the copy (B: bytes, k: 1000)'\n", gnuplot);
    if (s->copied)
        write_panel(gnuplot, "Copies in memory", COLL_COPIES, m->copy, copy_titles, COLL_Copy_name);
    fputs("unset multiplot\n", gnuplot);
}

bool sheet_plot(const model *m, const char *path, app_problem *problem) {
    return app_draw(&app_gnuplot, path, write_picture, m, problem);
}
