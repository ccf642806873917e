/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "app/options.h"

#include "lib/base/c_locale.h"
#include "lib/base/size.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 1, HELP, VERSION, FIRST_ROW = 256, ROWS_MOST = 64 }; /* return codes of getopt_long */

/* --- the help --- */

static const int WIDTH = 100, COLUMN = 24;

/* Prints TEXT from column *AT on, broken at blanks. */
static void print_wrapped(const char *text, int *at) {
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (*at > COLUMN && *at + 1 + length > WIDTH)
            *at = printf("\n%*s", COLUMN, "") - 1;
        else if (*at > COLUMN)
            *at += printf(" ");
        *at += printf("%.*s", length, text);
        text += length + (text[length] == ' ');
    }
}

static void print_choices(const app_option *row, int *at) {
    for (int i = 0; row->nth(i); i++) {
        char text[64];
        snprintf(text, sizeof text, "%s%s", row->nth(i), row->nth(i + 1) ? "," : "");
        print_wrapped(text, at);
    }
}

static bool is_within(const app_option *row, double value) {
    bool enough = row->above ? value > row->least : value >= row->least;
    return enough && value <= (row->most > 0 ? row->most : (double)INT64_MAX);
}

/* Writes the default to TEXT, or "" if there is none. */
static void describe_default(const app_option *row, char *text, size_t room) {
    *text = '\0';
    if (row->text && *row->text)
        snprintf(text, room, "(default %s)", *row->text);
    else if (row->integer && is_within(row, *row->integer))
        snprintf(text, room, "(default %d)", *row->integer);
    else if (row->size && is_within(row, (double)*row->size))
        snprintf(text, room, "(default %" PRIu64 ")", *row->size);
    else if (row->number && is_within(row, *row->number))
        snprintf(text, room, "(default %g)", *row->number);
    else if (row->choice)
        snprintf(text, room, "(default %s)", row->nth(*row->choice));
    else if (row->fallback)
        snprintf(text, room, "(default %s)", row->fallback);
}

static void print_option(const app_option *row) {
    char preset[128];
    int at = printf("  --%s %s", row->name, row->argument ? row->argument : "");
    at += printf("%*s", COLUMN > at ? COLUMN - at : 1, "");
    print_wrapped(row->help, &at);
    if (row->choice)
        print_choices(row, &at);
    describe_default(row, preset, sizeof preset);
    print_wrapped(preset, &at);
    putchar('\n');
}

static _Noreturn void print_help(const app_command *command) {
    printf("%s\n", command->usage);
    for (size_t i = 0; i < command->count; i++)
        if (command->options[i].help)
            print_option(&command->options[i]);
    puts("  --help, --version");
    if (command->notes)
        printf("\n%s", command->notes);
    exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

static _Noreturn void print_version(const app_command *command) {
    printf("%.*s (%s) %s\n", (int)strcspn(command->name, " "), command->name, PACKAGE_NAME,
           PACKAGE_VERSION);
    exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* --- values --- */

static bool append_word(app_words *list, const char *word, app_problem *problem) {
    const char **words = realloc(list->words, (list->count + 2) * sizeof *words);
    if (!words)
        return app_refuse(problem, "out of memory");
    list->words = words;
    words[list->count++] = word;
    words[list->count] = NULL;
    return true;
}

void app_words_free(app_words *list) {
    free(list->words);
    free(list->copy);
}

static bool refuse_number(const app_option *row, const char *text, app_problem *problem) {
    int digits = row->number ? 6 : 10;
    char least[32], most[32];
    snprintf(least, sizeof least, "%.*g", digits, row->least);
    snprintf(most, sizeof most, "%.*g", digits, row->most);
    if (row->above)
        return app_refuse(problem, "--%s %s: a number above %s, up to %s, is needed", row->name,
                          text, least, most);
    if (row->most > 0)
        return app_refuse(problem, "--%s %s: a number from %s to %s is needed", row->name, text,
                          least, most);
    return app_refuse(problem, "--%s %s: a number of at least %s is needed%s", row->name, text,
                      least, row->size ? ", as 4096, 64K, 16M or 1G" : "");
}

static bool parse_number(const app_option *row, const char *text, app_problem *problem) {
    int64_t integer = 0;
    uint64_t size = 0;
    double number = 0;
    bool good = row->integer ? app_parse_integer(text, INT_MIN, INT_MAX, &integer)
                : row->size  ? app_parse_size(text, &size)
                             : app_parse_number(text, &number);
    if (!good || !is_within(row, row->integer ? (double)integer
                                 : row->size  ? (double)size
                                              : number))
        return refuse_number(row, text, problem);
    if (row->integer)
        *row->integer = (int)integer;
    else if (row->size)
        *row->size = size;
    else
        *row->number = number;
    return true;
}

static bool parse_choice(const app_option *row, const char *text, app_problem *problem) {
    char known[256] = "";
    for (int i = 0; row->nth(i); i++) {
        if (!strcmp(text, row->nth(i))) {
            *row->choice = i;
            return true;
        }
        size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", row->nth(i));
    }
    return app_refuse(problem, "--%s %s: allowed: %s", row->name, text, known);
}

static bool parse_list(const app_option *row, const char *text, app_problem *problem) {
    char *copy = strdup(text), *rest = NULL;
    if (!copy)
        return app_refuse(problem, "out of memory");
    char *part = strtok_r(copy, row->separators, &rest);
    bool good = part || app_refuse(problem, "--%s: the list is empty", row->name);
    for (; part && good; part = strtok_r(NULL, row->separators, &rest))
        good = row->words ? append_word(row->words, part, problem)
                          : row->take(part, row->context, problem);
    if (row->words)
        row->words->copy = copy;
    else
        free(copy);
    return good;
}

static bool parse_value(const app_option *row, const char *text, app_problem *problem) {
    if (row->flag)
        return *row->flag = true;
    if (row->separators)
        return parse_list(row, text, problem);
    if (row->words)
        return append_word(row->words, text, problem);
    if (row->choice)
        return parse_choice(row, text, problem);
    if (row->take)
        return row->take(text, row->context, problem);
    if (!row->text)
        return parse_number(row, text, problem);
    *row->text = text;
    return true;
}

/* --- the command line --- */

/* Returns whether the option also takes the words that follow its first value. */
static bool takes_more(const app_option *row) {
    return row->words && !row->separators;
}

/* The state of parsing a command line. */
typedef struct parse_state {
    const app_command *command;
    const app_option *last, *operands; /* the option read last; the row that collects operands */
    uint64_t given;                    /* a bit for each option that was given */
    app_problem *problem;
} parse_state;

static bool add_operand(parse_state *r, const char *word) {
    if (!r->operands ||
        (r->operands->most > 0 && r->operands->operands->count >= r->operands->most))
        return app_refuse(r->problem, "unexpected argument %s; see %s --help", word,
                          r->command->name);
    r->given |= UINT64_C(1) << (r->operands - r->command->options);
    return append_word(r->operands->operands, word, r->problem);
}

static bool parse_option(parse_state *r, int row, const char *text) {
    uint64_t bit = UINT64_C(1) << row;
    r->last = &r->command->options[row];
    if ((r->given & bit) && !r->last->flag && !takes_more(r->last))
        return app_refuse(r->problem, "--%s given twice", r->last->name);
    r->given |= bit;
    return parse_value(r->last, text, r->problem);
}

static bool handle_code(parse_state *r, int code, const char *word) {
    if (code == HELP)
        print_help(r->command);
    if (code == VERSION)
        print_version(r->command);
    if (code == ':')
        return app_refuse(r->problem, "option %s needs a value", word);
    if (code == '?')
        return app_refuse(r->problem, "unknown option %s; see %s --help", word, r->command->name);
    if (code >= FIRST_ROW)
        return parse_option(r, code - FIRST_ROW, optarg);
    return r->last && takes_more(r->last) ? append_word(r->last->words, optarg, r->problem)
                                          : add_operand(r, optarg);
}

/* Handles the options that were not given: applies fallbacks, and reports required ones. */
static bool complete_options(const parse_state *r) {
    bool alone = false;
    for (size_t i = 0; i < r->command->count; i++)
        alone = alone || ((r->given >> i & 1) && r->command->options[i].alone);
    for (size_t i = 0; i < r->command->count; i++) {
        const app_option *row = &r->command->options[i];
        if (r->given >> i & 1)
            continue;
        if (row->required && !alone)
            return app_refuse(r->problem, "%s%s%s%s is missing; see %s --help",
                              row->operands ? "" : "--", row->name, row->argument ? " " : "",
                              row->argument ? row->argument : "", r->command->name);
        if (row->fallback && !parse_list(row, row->fallback, r->problem))
            return false;
    }
    return true;
}

bool app_parse(const app_command *command, int argc, char **argv, app_problem *problem) {
    struct option longs[ROWS_MOST + 3] = {{"help", no_argument, NULL, HELP},
                                          {"version", no_argument, NULL, VERSION}};
    parse_state r = {.command = command, .problem = problem};
    for (size_t i = 0, next = 2; i < command->count; i++) {
        const app_option *row = &command->options[i];
        if (row->operands)
            r.operands = row;
        else
            longs[next++] = (struct option){row->name, row->flag ? no_argument : required_argument,
                                            NULL, FIRST_ROW + (int)i};
    }
    optind = 1;
    opterr = 0; /* the problem is printed once, by one rank */
    for (int code; (code = getopt_long(argc, argv, "-:", longs, NULL)) != -1;)
        if (!handle_code(&r, code, argv[optind - 1]))
            return false;
    for (; optind < argc; optind++)
        if (!add_operand(&r, argv[optind]))
            return false;
    return complete_options(&r);
}

bool app_parse_size(const char *text, uint64_t *value) {
    return coll_spec_size(text, strlen(text), value);
}

bool app_take_size(const char *text, uint64_t *value, app_problem *problem) {
    return (app_parse_size(text, value) && *value >= 1 && *value <= PTRDIFF_MAX) ||
           app_refuse(problem, "%s is no size; write 4096, 64K, 16M or 1G", text);
}

void app_print_size(uint64_t value, char *text, size_t size) {
    coll_spec_print_size(value, text, size);
}

bool app_parse_integer(const char *text, int64_t lowest, int64_t highest, int64_t *value) {
    errno = 0;
    char *end;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < lowest || number > highest)
        return false;
    *value = number;
    return true;
}

bool app_parse_number(const char *text, double *value) {
    double number;
    if (!coll_c_locale_number(text, &number) || !isfinite(number))
        return false;
    *value = number;
    return true;
}
