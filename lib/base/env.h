/* The settings that the environment holds. This is the one list of them. */
#ifndef COLL_LIB_BASE_ENV_H
#define COLL_LIB_BASE_ENV_H

#include "coll_tools.h"

#include <stdbool.h>

/* Every environment variable that libcoll and its programs read, ended by a NULL name. */
extern const COLL_Setting coll_settings[];

/* The value of the setting NAME, or NULL when it is unset or empty. */
const char *coll_env(const char *name);

/*
 * Checks that every COLL_... variable of the environment is in the list, since a misspelt setting
 * that is silently ignored costs hours. Returns MPI_SUCCESS, or MPI_ERR_ARG with a text that names
 * the variable. Skips names that begin with COLL_TEST_, which belong to the test suite. Reports a
 * retired setting on stderr, once.
 */
int coll_env_check(void);

/* Reads NAME as seconds, 0 when unset. MPI_ERR_ARG unless it is a number from 0 to 1e9. */
int coll_env_seconds(const char *name, double *seconds);

/*
 * Sets *WHICH to the place of NAME's value among WORDS, which NULL ends; when it is unset *WHICH
 * stays. MPI_ERR_ARG for any other value.
 */
int coll_env_word(const char *name, const char *const words[], int *which);

/* Reads NAME as a switch, false when unset. MPI_ERR_ARG unless it is 0 or 1. */
int coll_env_switch(const char *name, bool *on);

#endif
