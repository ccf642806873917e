#include "config.h"

#include "app/options.h"

#include "app/cli.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 1, HELP = 2, FIRST_ROW = 256 }; /* codes from getopt_long */

static bool append_word(word_list *list, const char *word, struct problem *problem) {
    const char **words = realloc(list->words, (list->count + 1) * sizeof *words);
    if (!words)
        return problem_set(problem, "out of memory");
    list->words = words;
    list->words[list->count++] = word;
    return true;
}

static bool set_integer(const option_row *row, const char *text, struct problem *problem) {
    int64_t number;
    if (!cli_parse_integer(text, (int64_t)row->least, (int64_t)row->most, &number)) {
        if (row->most == INT64_MAX)
            return problem_set(problem, "--%s %s: give an integer from %" PRIu64, row->name, text,
                               row->least);
        return problem_set(problem, "--%s %s: give an integer from %" PRIu64 " to %" PRIu64,
                           row->name, text, row->least, row->most);
    }
    *(uint64_t *)row->value = (uint64_t)number;
    return true;
}

static bool set_number(const option_row *row, const char *text, struct problem *problem) {
    double *number = row->value;
    return (cli_parse_number(text, number) && *number > 0 && *number <= (double)row->most) ||
           problem_set(problem, "--%s %s: give a number above 0, %" PRIu64 " at most", row->name,
                       text, row->most);
}

static bool set_option(const option_row *row, const char *text, struct problem *problem) {
    switch (row->kind) {
    case OPTION_TEXT:
        *(const char **)row->value = text;
        return true;
    case OPTION_INTEGER:
        return set_integer(row, text, problem);
    case OPTION_NUMBER:
        return set_number(row, text, problem);
    case OPTION_FLAG:
        *(bool *)row->value = true;
        return true;
    case OPTION_PATHS:
        return append_word(row->value, text, problem);
    }
    return false;
}

static void print_help(const char *usage, const option_row *table, size_t count) {
    enum { COLUMN = 22 };
    printf("%s\n", usage);
    for (const option_row *row = table; row < table + count; row++) {
        int width = printf("  --%s %s", row->name, row->argument);
        printf("%*s", COLUMN > width ? COLUMN - width : 1, "");
        for (const char *letter = row->help; *letter; letter++) {
            putchar(*letter);
            if (*letter == '\n')
                printf("%*s", COLUMN, "");
        }
        if (row->kind == OPTION_INTEGER && *(uint64_t *)row->value <= row->most)
            printf(" (%" PRIu64 ")", *(uint64_t *)row->value);
        if (row->kind == OPTION_NUMBER)
            printf(" (%g)", *(double *)row->value);
        putchar('\n');
    }
    printf("  --help%*sprint this\n", COLUMN - 8, "");
}

/* Whether an option that takes one value is given once more, by the BIT of its row. */
static bool is_again(const option_row *row, uint64_t *given, uint64_t bit) {
    bool again = (*given & bit) && row->kind != OPTION_FLAG && row->kind != OPTION_PATHS;
    *given |= bit;
    return again;
}

static options_state parse(int argc, char **argv, const struct option *longs, const char *usage,
                           const option_row *table, size_t count, struct problem *problem) {
    const option_row *last = NULL;
    uint64_t given = 0; /* a bit for each row */
    optind = 1;
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, "-:", longs, NULL)) != -1;) {
        if (code == HELP) {
            print_help(usage, table, count);
            return OPTIONS_HELP;
        }
        if (code == '?' || code == ':') {
            problem_set(problem,
                        code == ':' ? "option '%s' requires an argument; see --help"
                                    : "unrecognized option '%s'; see --help",
                        argv[optind - 1]);
            return OPTIONS_FAILED;
        }
        if (code != WORD) {
            last = &table[code - FIRST_ROW];
            if (is_again(last, &given, UINT64_C(1) << (code - FIRST_ROW))) {
                problem_set(problem, "--%s given twice", last->name);
                return OPTIONS_FAILED;
            }
        } else if (!last || last->kind != OPTION_PATHS) {
            problem_set(problem, "unexpected argument '%s'; see --help", optarg);
            return OPTIONS_FAILED;
        }
        if (!set_option(last, optarg, problem))
            return OPTIONS_FAILED;
    }
    if (optind < argc) {
        problem_set(problem, "unexpected argument '%s'; see --help", argv[optind]);
        return OPTIONS_FAILED;
    }
    for (const option_row *row = table; row < table + count; row++)
        if (row->required && !*(const char **)row->value) {
            problem_set(problem, "--%s is missing; see --help", row->name);
            return OPTIONS_FAILED;
        }
    return OPTIONS_GOOD;
}

options_state options_parse(int argc, char **argv, const char *usage, const option_row *table,
                            size_t count, struct problem *problem) {
    struct option *longs = calloc(count + 2, sizeof *longs);
    if (!longs) {
        problem_set(problem, "out of memory");
        return OPTIONS_FAILED;
    }
    for (size_t i = 0; i < count; i++)
        longs[i] = (struct option){table[i].name,
                                   table[i].kind == OPTION_FLAG ? no_argument : required_argument,
                                   NULL, FIRST_ROW + (int)i};
    longs[count] = (struct option){"help", no_argument, NULL, HELP};
    options_state state = parse(argc, argv, longs, usage, table, count, problem);
    free(longs);
    return state;
}

void options_of_patches(patch_choice *choice, option_row rows[PATCH_OPTIONS]) {
    *choice = (patch_choice){.limit = UINT64_MAX, .patch = 16, .stride = 6};
    rows[0] = (option_row){"images",
                           "PATH...",
                           "IDX files (plain or .gz), PNG and JPEG files, directories of\n"
                           "these two; without it the training images of Fashion-MNIST from the\n"
                           "Debian package dataset-fashion-mnist",
                           OPTION_PATHS,
                           false,
                           &choice->paths,
                           0,
                           0};
    rows[1] = (option_row){
        "limit", "N",      "use the first N images (all)", OPTION_INTEGER, false, &choice->limit,
        1,       INT64_MAX};
    rows[2] = (option_row){"patch",         "P",           "pixels along each side of a patch",
                           OPTION_INTEGER,  false,         &choice->patch,
                           HOG_PATCH_LEAST, HOG_PATCH_MOST};
    rows[3] = (option_row){"stride",
                           "S",
                           "pixels from one patch to the next",
                           OPTION_INTEGER,
                           false,
                           &choice->stride,
                           1,
                           UINT32_MAX};
    rows[4] = (option_row){"skip-bad",
                           "",
                           "leave out PNG and JPEG files that can't be decoded; each is named\n"
                           "on stderr, and they are counted",
                           OPTION_FLAG,
                           false,
                           &choice->skip_bad,
                           0,
                           0};
}

void options_of_hog(hog_shape *shape, option_row rows[HOG_OPTIONS]) {
    *shape = (hog_shape){.cells = 4, .bins = 32};
    rows[0] = (option_row){"cells",
                           "C",
                           "cells along each side of a patch",
                           OPTION_INTEGER,
                           false,
                           &shape->cells,
                           1,
                           HOG_CELLS_MOST};
    rows[1] = (option_row){"bins",         "B",          "orientations of a cell's histogram",
                           OPTION_INTEGER, false,        &shape->bins,
                           HOG_BINS_LEAST, HOG_BINS_MOST};
}

bool options_check_hog(hog_shape shape, uint64_t patch, struct problem *problem) {
    return shape.cells <= patch ||
           problem_set(problem,
                       "--cells %" PRIu64 ": a patch of %" PRIu64 " pixels has %" PRIu64 " at most",
                       shape.cells, patch, patch);
}
