#include "config.h"

#include "app/progress.h"

#include "app/clocks.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const double MOMENT = 0.2; /* s */

static bool always, visible;
static double last = -1; /* when it was written last */

void app_progress_always(void) {
    always = true;
}

static bool is_seen(void) {
    return always || isatty(STDERR_FILENO);
}

bool app_progress_due(void) {
    return is_seen() && app_seconds() - last >= MOMENT;
}

void app_progress(const char *format, ...) {
    va_list arguments;
    if (!is_seen())
        return;
    last = app_seconds();
    visible = true;
    fputs("\r\033[K", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
}

void app_progress_hide(void) {
    if (visible)
        fputs("\r\033[K", stderr);
    visible = false;
}
