/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-words curve: plots accuracy against the size of the vocabulary, as table and picture. */
#include "config.h"

#include "app/drawer.h"
#include "app/files.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "kmeans/points/memory.h"
#include "kmeans/words/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: coll-words curve [OPTIONS] --results FILE...\n"
    "\n"
    "Prints the results of \"test --json\" for each size of the vocabulary: the mean, the minimum\n"
    "and the maximum of the runs. Says whether the curve is non-decreasing within its noise: no\n"
    "mean may be lower than an earlier one by more than the larger spread of their runs.\n";

struct request {
    app_words results;
    const char *json, *output, *title;
};

struct point {
    int64_t words;
    size_t runs;
    double sum, least, most; /* percent */
};

struct curve {
    struct point *points; /* sorted by words */
    size_t count, room;
    const char *title;
};

static double mean_of(const struct point *point) {
    return point->sum / (double)point->runs;
}

static double spread_of(const struct point *point) {
    return point->most - point->least;
}

static bool add_result(struct curve *curve, int64_t words, double percent, app_problem *problem) {
    size_t at = 0;
    while (at < curve->count && curve->points[at].words < words)
        at++;
    if (at == curve->count || curve->points[at].words != words) {
        if (!km_grow(&curve->points, curve->count, &curve->room, sizeof *curve->points))
            return app_refuse(problem, "out of memory");
        memmove(&curve->points[at + 1], &curve->points[at],
                (curve->count++ - at) * sizeof *curve->points);
        curve->points[at] = (struct point){.words = words, .least = percent, .most = percent};
    }
    struct point *point = &curve->points[at];
    point->runs++;
    point->sum += percent;
    point->least = percent < point->least ? percent : point->least;
    point->most = percent > point->most ? percent : point->most;
    return true;
}

/* Reads the lines that "test --json" wrote. */
static bool read_results(struct curve *curve, const char *path, app_problem *problem) {
    char line[512];
    int number = 0;
    bool good = true;
    FILE *file = fopen(path, "r");
    if (!file)
        return app_refuse(problem, "%s: %s", path, strerror(errno));
    while (good && fgets(line, sizeof line, file)) {
        const char *words = strstr(line, "\"words\": "), *percent = strstr(line, "\"percent\": ");
        int64_t size = words ? strtoll(words + strlen("\"words\": "), NULL, 10) : 0;
        double value = percent ? strtod(percent + strlen("\"percent\": "), NULL) : -1;
        number++;
        good = size > 0 && value >= 0 && value <= 100
                   ? add_result(curve, size, value, problem)
                   : app_refuse(problem,
                                "%s:%d: has no words and percent; give what \"coll-words test "
                                "--words K --json FILE\" wrote",
                                path, number);
    }
    if (good && ferror(file))
        good = app_refuse(problem, "%s: %s", path, strerror(errno));
    fclose(file);
    return good;
}

static void print_curve(const struct curve *curve, FILE *json_file) {
    bool falls = false;
    printf("%10s %6s %9s %9s %9s\n", "words", "runs", "mean %", "least %", "most %");
    for (size_t i = 0; i < curve->count; i++) {
        const struct point *point = &curve->points[i];
        printf("%10" PRId64 " %6zu %9.2f %9.2f %9.2f\n", point->words, point->runs, mean_of(point),
               point->least, point->most);
        app_json(json_file, app_json_integer("words", point->words),
                 app_json_integer("runs", (int64_t)point->runs),
                 app_json_number("mean_percent", mean_of(point)),
                 app_json_number("least_percent", point->least),
                 app_json_number("most_percent", point->most));
        for (size_t before = 0; before < i; before++) {
            double noise = spread_of(point) > spread_of(&curve->points[before])
                               ? spread_of(point)
                               : spread_of(&curve->points[before]);
            falls = falls || mean_of(point) + noise < mean_of(&curve->points[before]);
        }
    }
    printf("non-decreasing within noise: %s\n", falls ? "no" : "yes");
}

/* Writes a string in gnuplot's single quotes. */
static void write_quoted(FILE *file, const char *text) {
    fputc('\'', file);
    for (; *text; text++)
        fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, file);
    fputc('\'', file);
}

static void write_picture(FILE *gnuplot, const void *context) {
    const struct curve *curve = context;
    fprintf(gnuplot, "set terminal pngcairo noenhanced size 900,600 font 'DejaVu Sans,12'\n"
                     "set title ");
    write_quoted(gnuplot, curve->title);
    fprintf(gnuplot, "\nset xlabel 'words in the vocabulary'\nset ylabel 'accuracy (%%)'\n"
                     "set logscale x 2\nset grid\nset key bottom right\nset offsets graph 0.03, "
                     "graph 0.03, graph 0.05, "
                     "graph 0.05\nset xtics (");
    for (size_t i = 0; i < curve->count; i++)
        fprintf(gnuplot, "%s%" PRId64, i ? ", " : "", curve->points[i].words);
    fprintf(gnuplot,
            ")\nplot '-' using 1:2 with lines linewidth 2 linecolor rgb '#1f5fa8' notitle, "
            "'-' using 1:2:3:4 with yerrorbars linewidth 1.5 pointtype 7 linecolor rgb "
            "'#1f5fa8' title 'mean, least and most of the runs'\n");
    for (int part = 0; part < 2; part++) {
        for (size_t i = 0; i < curve->count; i++)
            fprintf(gnuplot, "%" PRId64 " %g %g %g\n", curve->points[i].words,
                    mean_of(&curve->points[i]), curve->points[i].least, curve->points[i].most);
        fprintf(gnuplot, "e\n");
    }
}

static bool plot_curve(const struct request *request, app_problem *problem) {
    struct curve curve = {.title = request->title};
    app_output json = {0};
    const app_file_use files[] = {
        {APP_FILE_WRITTEN, "--json", &request->json, 1, NULL},
        {APP_FILE_WRITTEN, "--output", &request->output, 1, NULL},
        {APP_FILE_READ, "--results", request->results.words, request->results.count, NULL}};
    if (!app_files_check(files, 3, problem))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < request->results.count; i++)
        good = read_results(&curve, request->results.words[i], problem);
    if (good && !curve.count)
        good = app_refuse(problem, "no results in these files");
    good = good && app_output_open(&json, request->json, problem);
    if (good) {
        print_curve(&curve, json.file);
        good = (!request->output ||
                app_draw(&app_gnuplot, request->output, write_picture, &curve, problem)) &&
               app_output_commit(&json, problem);
    }
    app_output_discard(&json);
    free(curve.points);
    return good;
}

bool verb_curve(int argc, char **argv, app_problem *problem) {
    struct request request = {.title = "Accuracy against the size of the vocabulary"};
    const app_option options[] = {
        {"results", "FILE...", "what \"test --json\" wrote", .words = &request.results,
         .required = true},
        APP_JSON_OPTION(&request.json),
        {"output", "FILE.png", "the curve, drawn by gnuplot", .text = &request.output},
        {"title", "TEXT", "of the picture", .text = &request.title},
    };
    const app_command command = {"coll-words curve", usage, NULL, APP_TABLE(options)};
    bool good = app_parse(&command, argc, argv, problem) && plot_curve(&request, problem);
    app_words_free(&request.results);
    return good;
}
