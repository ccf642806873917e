/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of an error as one line for the user; "" means no error. */
#ifndef COLL_APP_PROBLEM_H
#define COLL_APP_PROBLEM_H

#include <stdbool.h>

typedef struct app_problem {
    char text[1024];
} app_problem;

/*
 * Sets the text, unless it is set already: the first problem counts. Returns false, so that a
 * function can fail with "return app_refuse(...)".
 */
bool app_refuse(app_problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
