/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "app/progress.h"

#include "app/clocks.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Seconds between updates on a terminal. */
static const double MOMENT = 0.2;

/*
 * Seconds until the first line if stderr is no terminal, unless app_progress_every is shorter.
 * app_progress_ahead always prints a line for work of at least this many seconds.
 */
static const double PATIENCE = 2;

double app_progress_every = 10;
bool app_progress_off = false;

static bool visible;
static double begun = -1, last = -1; /* times of the first call and of the last line */
static double end = -1;              /* the work ends by this time; -1: unknown */

void app_progress_expect(double seconds) {
    end = app_seconds() + seconds;
}

bool app_progress_due(void) {
    if (app_progress_off)
        return false;
    double now = app_seconds(), every = MOMENT;
    if (begun < 0)
        begun = now;
    if (isatty(STDERR_FILENO))
        return now - last >= every;
    every = app_progress_every;
    return last < 0 ? now - begun >= (every < PATIENCE ? every : PATIENCE) : now - last >= every;
}

/* Writes a line at once: mpirun of Open MPI 5 sometimes loses the first of several short pieces. */
static void write_line(const char *format, va_list arguments) {
    const bool terminal = isatty(STDERR_FILENO);
    char text[1024], left[64] = "";
    last = app_seconds();
    visible = terminal;
    vsnprintf(text, sizeof text, format, arguments);
    if (end > last)
        snprintf(left, sizeof left, ", up to %.0f s left", end - last);
    fprintf(stderr, "%s%s%s%s", terminal ? "\r\033[K" : "# ", text, left, terminal ? "" : "\n");
    fflush(stderr);
}

void app_progress(const char *format, ...) {
    va_list arguments;
    if (!isatty(STDERR_FILENO) && !app_progress_due())
        return;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}

void app_progress_ahead(double seconds, const char *format, ...) {
    va_list arguments;
    if (!isatty(STDERR_FILENO) && !app_progress_due() && seconds < PATIENCE)
        return;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}

void app_progress_hide(void) {
    if (visible)
        fputs("\r\033[K", stderr);
    visible = false;
}
