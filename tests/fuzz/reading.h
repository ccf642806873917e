/* The readers of files, for tests that give them files of all kinds. */
#ifndef COLL_TESTS_FUZZ_READING_H
#define COLL_TESTS_FUZZ_READING_H

#include "app/problem.h"

#include <stdbool.h>
#include <stddef.h>

/* A reader, and the name of a file that is for it. */
typedef struct file_reader {
    const char *name;
    /* Reads all of the file and looks at what it got; false with a problem. */
    bool (*read)(const char *path, app_problem *problem);
} file_reader;

/* All readers that were built; ended by one without a name. */
extern const file_reader readers[];

/* Whether PROBLEM is a line that names the file called NAME. */
bool problem_names(const app_problem *problem, const char *name);

#endif
