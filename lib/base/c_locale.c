/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/c_locale.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static locale_t plain;

static void make_plain(void) {
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* If newlocale had no memory, uselocale(0) leaves the locale unchanged. */
locale_t coll_c_locale_begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain);
    return uselocale(plain);
}

void coll_c_locale_end(locale_t before) {
    uselocale(before);
}

bool coll_c_locale_number(const char *text, double *value) {
    if (!*text || strspn(text, "0123456789.eE+-") != strlen(text))
        return false;
    char *end;
    locale_t before = coll_c_locale_begin();
    *value = strtod(text, &end);
    coll_c_locale_end(before);
    return end != text && !*end;
}

void coll_c_locale_print(FILE *stream, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    locale_t before = coll_c_locale_begin();
    vfprintf(stream, format, arguments);
    coll_c_locale_end(before);
    va_end(arguments);
}
