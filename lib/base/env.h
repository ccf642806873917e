/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings in the environment. This is the only list of them. */
#ifndef COLL_LIB_BASE_ENV_H
#define COLL_LIB_BASE_ENV_H

#include "coll_tools.h"

#include <stdbool.h>

/* Every COLL_... variable that libcoll and its programs read, terminated by a NULL name. */
extern const COLL_Setting coll_settings[];

/* Returns the value of the setting NAME, or NULL if it is unset or empty. */
const char *coll_env(const char *name);

/*
 * Checks that every COLL_... variable in the environment is in the list: a misspelt setting that is
 * silently ignored costs hours. Returns MPI_SUCCESS, or MPI_ERR_ARG with a text that names the
 * variable. Ignores names that begin with COLL_TEST_, which belong to the test suite. Reports a
 * retired setting on stderr, once per process.
 */
int coll_env_check(void);

/* Reads NAME as seconds; 0 if unset. Returns MPI_ERR_ARG unless the value is a number from 0 to
 * 1e9. */
int coll_env_seconds(const char *name, double *seconds);

/*
 * Sets *WHICH to the index of NAME's value in WORDS, which is terminated by NULL; leaves *WHICH
 * unchanged if NAME is unset. Returns MPI_ERR_ARG for any other value.
 */
int coll_env_word(const char *name, const char *const words[], int *which);

/* Reads NAME as a switch; false if unset. Returns MPI_ERR_ARG unless the value is 0 or 1. */
int coll_env_switch(const char *name, bool *on);

#endif
