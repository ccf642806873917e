/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses and checks a program's command line, and prints its help, from a table of options. */
#ifndef COLL_APP_OPTIONS_H
#define COLL_APP_OPTIONS_H

#include "app/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list of words from the command line. */
typedef struct app_words {
    const char **words; /* terminated by NULL; NULL for an empty list */
    size_t count;
    char *copy; /* storage of a list that was split */
} app_words;

void app_words_free(app_words *list);

/*
 * Parses TEXT into the object that CONTEXT points to; returns false and a problem if TEXT is
 * invalid.
 */
typedef bool app_take(const char *text, void *context, app_problem *problem);

/*
 * One option. Exactly one of the pointers from flag to take is set, except that choice needs nth,
 * too. This pointer determines the kind of the value and where it is stored. The value stored there
 * before parsing is the default; --help shows it if it is within the bounds.
 */
typedef struct app_option {
    const char *name;     /* without the dashes */
    const char *argument; /* name of the value in the help; NULL for a flag */
    const char *help;     /* NULL: not shown in the help */
    bool *flag;
    const char **text;
    int *integer;
    uint64_t *size; /* 4096, 64K, 16M, 1G */
    double *number;
    /* index of the chosen word; NTH(index) returns the words, and NULL after the last */
    int *choice;
    const char *(*nth)(int number);
    app_words *words;    /* one or more words up to the next option; or the parts of a list */
    app_words *operands; /* collects the words that belong to no option, at most MOST of them */
    app_take *take;
    void *context;
    const char *separators; /* for a list: characters between the parts that TAKE or WORDS get */
    const char *fallback;   /* the list that is parsed if the option isn't given; needs
                               SEPARATORS */
    double least, most;     /* bounds of a value; MOST of 0: no upper bound */
    bool above;             /* the value must exceed LEAST */
    bool required;
    bool alone; /* if this option is given, required options may be missing */
} app_option;

/* The --json option of most programs. */
#define APP_JSON_OPTION(where)                                                                     \
    { "json", "FILE", "write the table as JSON too, an object on each line", .text = (where) }

/* A table of options and its length, as the last two members of an app_command. */
#define APP_TABLE(options) (options), sizeof(options) / sizeof *(options)

typedef struct app_command {
    const char *name;          /* "coll-bench", or with a subcommand, "coll-bench dcp" */
    const char *usage, *notes; /* text above and below the options in the help; NOTES may be NULL */
    const app_option *options; /* at most 64 */
    size_t count;
} app_command;

/*
 * Parses the arguments after argv[0]. --help and --version print and exit, without MPI. On false
 * PROBLEM names the option, the value and what is allowed.
 */
bool app_parse(const app_command *command, int argc, char **argv, app_problem *problem);

/*
 * Parse numbers; each returns false unless all of TEXT is valid: a size like 4096, 64K, 16M, 1G or
 * 2T (powers of 1024); a decimal integer within [lowest, highest]; a finite decimal number.
 */
bool app_parse_size(const char *text, uint64_t *value);
bool app_parse_integer(const char *text, int64_t lowest, int64_t highest, int64_t *value);
bool app_parse_number(const char *text, double *value);

/* Parses a size from 1 to PTRDIFF_MAX, or sets PROBLEM and returns false. */
bool app_take_size(const char *text, uint64_t *value, app_problem *problem);

/* Writes VALUE to TEXT, of SIZE bytes, as app_parse_size reads it: 32768 as "32K". */
void app_print_size(uint64_t value, char *text, size_t size);

#endif
