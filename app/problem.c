/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/problem.h"

#include <stdarg.h>
#include <stdio.h>

bool app_refuse(app_problem *problem, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!*problem->text)
        vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return false;
}
