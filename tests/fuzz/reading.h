/* SPDX-License-Identifier: BSD-3-Clause */
/* The readers of files, for tests that pass them files of all kinds. */
#ifndef COLL_TESTS_FUZZ_READING_H
#define COLL_TESTS_FUZZ_READING_H

#include "app/problem.h"

#include <stdbool.h>
#include <stddef.h>

/* A reader, and the name of a file for it. */
typedef struct file_reader {
    const char *name;
    /* Reads the whole file and uses the data. Returns false with a problem. */
    bool (*read)(const char *path, app_problem *problem);
} file_reader;

/* All readers that were built, followed by one without a name. */
extern const file_reader readers[];

/* Returns whether PROBLEM is a line that names the file NAME. */
bool problem_names(const app_problem *problem, const char *name);

#endif
