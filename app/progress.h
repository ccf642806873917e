/* A line on the terminal that says how far the work is, written over again and again. */
#ifndef COLL_APP_PROGRESS_H
#define COLL_APP_PROGRESS_H

#include <stdbool.h>

/* Writes to stderr, terminal or not, from now on; else only to a terminal. */
void app_progress_always(void);

/* Whether a line would be seen, and the last one is a moment ago. */
bool app_progress_due(void);

void app_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes the line empty for what is printed next. */
void app_progress_hide(void);

#endif
