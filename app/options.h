/* The long options of a verb as a table, from which they are parsed and explained. */
#ifndef COLL_APP_OPTIONS_H
#define COLL_APP_OPTIONS_H

#include "kmeans/words/hog.h"
#include "kmeans/words/patches.h"

typedef enum option_kind {
    OPTION_TEXT,    /* VALUE is a const char ** */
    OPTION_INTEGER, /* VALUE is a uint64_t *, within LEAST and MOST */
    OPTION_NUMBER,  /* VALUE is a double *, above 0 to MOST */
    OPTION_FLAG,    /* takes no argument; VALUE is a bool * */
    OPTION_PATHS    /* one word or more; VALUE is an word_list * */
} option_kind;

typedef struct option_row {
    const char *name;
    const char *argument; /* its name in the help */
    const char *help;     /* lines; an integer's default is added to the last */
    option_kind kind;
    bool required; /* of a text: it must be given */
    void *value;   /* holds the default before parsing */
    uint64_t least, most;
} option_row;

typedef enum options_state { OPTIONS_FAILED, OPTIONS_GOOD, OPTIONS_HELP } options_state;

/*
 * Parses what follows argv[0] by the COUNT rows, 64 at most, of TABLE. Paths and flags may be given
 * again. "--help" prints USAGE and the table and
 * gives OPTIONS_HELP. On failure the problem is set.
 */
options_state options_parse(int argc, char **argv, const char *usage, const option_row *table,
                            size_t count, struct problem *problem);

/* Sets CHOICE to the defaults, and rows of a verb's table to its options. */
enum { PATCH_OPTIONS = 5 };
void options_of_patches(patch_choice *choice, option_row rows[PATCH_OPTIONS]);

/* The same of how a patch is described. */
enum { HOG_OPTIONS = 2 };
void options_of_hog(hog_shape *shape, option_row rows[HOG_OPTIONS]);

/* Whether a patch of PATCH pixels a side has one for each cell. */
bool options_check_hog(hog_shape shape, uint64_t patch, struct problem *problem);

#endif
