/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is preloaded under AddressSanitizer, so that it can record stacks by fast unwinding, which ends
 * at the first function without a frame pointer: in most libraries, the one that allocates memory.
 * Suppressions of leaks then name that library. For this, libraries stay loaded until the leaks are
 * found, and strings are allocated here, because the C library would hide which library asked it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int dlclose(void *library) {
    (void)library;
    return 0;
}

int vasprintf(char **text, const char *format, va_list arguments) {
    va_list copy;
    va_copy(copy, arguments);
    int length = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    *text = length < 0 ? NULL : malloc((size_t)length + 1);
    return *text ? vsnprintf(*text, (size_t)length + 1, format, arguments) : -1;
}

int asprintf(char **text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

/* What programs call instead that were compiled with _FORTIFY_SOURCE. */

__attribute__((format(printf, 3, 0))) int __vasprintf_chk(char **text, int flag, const char *format,
                                                          va_list arguments);
int __vasprintf_chk(char **text, int flag, const char *format, va_list arguments) {
    (void)flag;
    return vasprintf(text, format, arguments);
}

__attribute__((format(printf, 3, 4))) int __asprintf_chk(char **text, int flag, const char *format,
                                                         ...);
int __asprintf_chk(char **text, int flag, const char *format, ...) {
    (void)flag;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}
