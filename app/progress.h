/*
 * Says on stderr how far the work is: on a terminal by a line that is written over again and again,
 * elsewhere, as under mpirun, by lines of their own, the first one after two seconds. To be called
 * by one rank.
 */
#ifndef COLL_APP_PROGRESS_H
#define COLL_APP_PROGRESS_H

#include <stdbool.h>

/* Seconds between lines where stderr is no terminal; 0: every call writes one. */
extern double app_progress_every;

/* The row that programs with progress have. */
#define APP_PROGRESS_OPTION                                                                        \
    {                                                                                              \
        "progress-every", "S",                                                                     \
            "seconds between lines about progress on stderr where that is no terminal; 0: all",    \
            .number = &app_progress_every, .most = 1e9                                             \
    }

/* Sets how long the work takes from now on at most; the lines then tell what is left of it. */
void app_progress_expect(double seconds);

/* Returns true when what app_progress is given now is written: not before a line is due. */
bool app_progress_due(void);

/* Writes a line; nothing while none is due, except on a terminal. */
void app_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes a line about work that takes SECONDS until the next: where these are many, in any case. */
void app_progress_ahead(double seconds, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Clears the terminal's line for what is printed next. */
void app_progress_hide(void);

#endif
