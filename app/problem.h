/* What went wrong, as the one line that its reader gets; "" for nothing. */
#ifndef COLL_APP_PROBLEM_H
#define COLL_APP_PROBLEM_H

#include <stdbool.h>

struct problem {
    char text[1024];
};

/*
 * Sets the text, unless there is one: the first problem counts. Returns false, so that a function
 * can fail with "return problem_set(...)".
 */
bool problem_set(struct problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
