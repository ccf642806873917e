/* The one syntax in which users name an algorithm: "auto", "chain", "chain:segment=32K,window=16".
 */
#ifndef COLL_LIB_ALGORITHM_SPEC_H
#define COLL_LIB_ALGORITHM_SPEC_H

#include "lib/algorithm/algorithm.h"
#include "lib/base/size.h"

/* The longest specification that is accepted, with its final 0. */
enum { COLL_SPEC_MAX = 200 };

/* What the user asked for: no algorithm (NULL) stands for "auto". */
typedef struct coll_spec {
    const coll_algorithm *algorithm;
    coll_values values;
} coll_spec;

/* The algorithm's own values for all its parameters. */
coll_values coll_values_default(const coll_algorithm *algorithm);

/*
 * Reads TEXT (NULL: "auto") against TABLE, ended by NULL. SETTING is where the text comes from, for
 * the error. MPI_ERR_ARG with a text that names the setting, the value and what is allowed.
 */
int coll_spec_parse(const char *setting, const char *text, const coll_algorithm *const table[],
                    coll_spec *spec);

/* Writes NAME:PARAM=VALUE,... with all parameters to TEXT, in the same syntax. */
void coll_spec_print(const coll_algorithm *algorithm, const coll_values *values, char *text,
                     size_t size);

#endif
