/* The command line of a program as a table, from which it is read, checked and explained. */
#ifndef COLL_APP_OPTIONS_H
#define COLL_APP_OPTIONS_H

#include "app/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of the command line. */
typedef struct app_words {
    const char *const *words; /* and a NULL, or NULL for none */
    size_t count;
    char *copy; /* of a list that was taken apart */
} app_words;

void app_words_free(app_words *list);

/* Reads TEXT into what CONTEXT points to; false and a problem where it is no good. */
typedef bool app_take(const char *text, void *context, app_problem *problem);

/*
 * One option. Exactly one of the pointers from flag to take is set; it says what kind of value
 * there is and where it goes. The value that is there before is the default: --help shows it where
 * it is within the bounds.
 */
typedef struct app_option {
    const char *name;     /* without its dashes */
    const char *argument; /* what the help calls its value; NULL for a flag */
    const char *help;     /* NULL: not shown */
    bool *flag;
    const char **text;
    int *integer;
    uint64_t *size; /* 4096, 64K, 16M, 1G */
    double *number;
    int *choice; /* which of the words that NTH gives: 0 for the first; NULL ends them */
    const char *(*nth)(int number);
    app_words *words;    /* one or more, up to the next option; or the parts of a list */
    app_words *operands; /* a row for the words that no option takes, at most MOST of them */
    app_take *take;
    void *context;
    const char *separators; /* of a list, of which TAKE or WORDS get the parts */
    const char *fallback;   /* what TAKE gets where the option isn't given */
    double least, most;     /* bounds of a value; MOST of 0 is none */
    bool above;             /* LEAST itself is too little */
    bool required;
    bool alone; /* a flag with which nothing is required */
} app_option;

/* The row that most programs have. */
#define APP_JSON_OPTION(where)                                                                     \
    { "json", "FILE", "write the table as JSON too, an object on each line", .text = (where) }

/* A table and its length, as the last two members of an app_command. */
#define APP_TABLE(options) (options), sizeof(options) / sizeof *(options)

typedef struct app_command {
    const char *name;          /* "coll-bench", or with its command, "coll-bench dcp" */
    const char *usage, *notes; /* above and below the options in the help; NOTES may be NULL */
    const app_option *options; /* 64 at most */
    size_t count;
} app_command;

/*
 * Reads what follows argv[0]. --help and --version print and end the program, without MPI. On false
 * PROBLEM names the option, the value and what is allowed.
 */
bool app_parse(const app_command *command, int argc, char **argv, app_problem *problem);

/*
 * Numbers as users write them; each takes all of TEXT or is false: a size, as 4096, 64K, 16M, 1G or
 * 2T (powers of 1024); a decimal integer within [lowest, highest]; a finite decimal number.
 */
bool app_parse_size(const char *text, uint64_t *value);
bool app_parse_integer(const char *text, int64_t lowest, int64_t highest, int64_t *value);
bool app_parse_number(const char *text, double *value);

#endif
