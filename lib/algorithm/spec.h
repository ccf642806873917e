/* SPDX-License-Identifier: BSD-3-Clause */
/* The syntax in which users name an algorithm: "auto", "chain", "chain:segment=32K,window=16". */
#ifndef COLL_LIB_ALGORITHM_SPEC_H
#define COLL_LIB_ALGORITHM_SPEC_H

#include "lib/algorithm/algorithm.h"
#include "lib/base/size.h"

/* Upper limit of the length of a specification, in bytes, including its terminating NUL. */
enum { COLL_SPEC_MAX = 200 };

/* The user's choice; an ALGORITHM of NULL stands for "auto". */
typedef struct coll_spec {
    const coll_algorithm *algorithm;
    coll_values values;
} coll_spec;

/* Returns the default values of ALGORITHM's parameters. */
coll_values coll_values_default(const coll_algorithm *algorithm);

/*
 * Parses TEXT (NULL: "auto"); TABLE lists the known algorithms, terminated by NULL. SETTING is the
 * name of the setting that has the value TEXT, for error messages. If TEXT is wrong, returns
 * MPI_ERR_ARG with an error text that names the setting, the value and what is allowed.
 */
int coll_spec_parse(const char *setting, const char *text, const coll_algorithm *const table[],
                    coll_spec *spec);

/* Writes NAME:PARAM=VALUE,... with all parameters to TEXT, which has SIZE bytes. */
void coll_spec_print(const coll_algorithm *algorithm, const coll_values *values, char *text,
                     size_t size);

/* Writes a line for each parameter, "NAME  LOWEST to HIGHEST  HELP\n", to TEXT of SIZE bytes. */
void coll_spec_print_params(const coll_algorithm *algorithm, char *text, size_t size);

#endif
