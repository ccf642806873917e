/* What went wrong, as the one line that its reader gets; "" for nothing. */
#ifndef COLL_APP_PROBLEM_H
#define COLL_APP_PROBLEM_H

#include <stdbool.h>

typedef struct app_problem {
    char text[1024];
} app_problem;

/*
 * Sets the text, unless there is one: the first problem counts. Returns false, so that a function
 * can fail with "return app_refuse(...)".
 */
bool app_refuse(app_problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
