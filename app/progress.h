/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints progress on stderr: on a terminal as one line that is overwritten; elsewhere (such as
 * under mpirun) as separate lines, the first of them after at most two seconds. Only one rank
 * should call these functions.
 */
#ifndef COLL_APP_PROGRESS_H
#define COLL_APP_PROGRESS_H

#include <stdbool.h>

/* Seconds between lines if stderr is no terminal; 0: every call prints one. */
extern double app_progress_every;

/* A library, which must not print, sets this to true: app_progress_due then returns false. */
extern bool app_progress_off;

/* The option of programs that print progress. */
#define APP_PROGRESS_OPTION                                                                        \
    {                                                                                              \
        "progress-every", "S",                                                                     \
            "seconds between progress lines if stderr is no terminal; 0: print all",               \
            .number = &app_progress_every, .most = 1e9                                             \
    }

/* Sets how long the work will take at most from now on; the lines then include the time left. */
void app_progress_expect(double seconds);

/* Returns true if a line is due, so that app_progress would print it. */
bool app_progress_due(void);

/* Prints a line if one is due; on a terminal always. */
void app_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Prints a line before work that takes SECONDS without further progress: on a terminal always; else
 * if a line is due or SECONDS is at least 2.
 */
void app_progress_ahead(double seconds, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Clears the terminal's line before other output. */
void app_progress_hide(void);

#endif
