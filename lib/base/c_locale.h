/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locale-independent text: whatever locale the program has set, numbers in settings, files, traces
 * and messages have a decimal point, and only ASCII letters count as letters. No MPI.
 */
#ifndef COLL_LIB_BASE_C_LOCALE_H
#define COLL_LIB_BASE_C_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Reads all of TEXT as a decimal number: a sign, digits, a decimal point, an exponent. Returns
 * false for anything else, including "nan", "inf", "0x1p3" and spaces. A number too large for a
 * double becomes an infinity.
 */
bool coll_c_locale_number(const char *text, double *value);

/* Prints as fprintf does, in the C locale. */
void coll_c_locale_print(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * coll_c_locale_begin switches this thread to the C locale and returns the previous one, which
 * coll_c_locale_end restores.
 */
locale_t coll_c_locale_begin(void);
void coll_c_locale_end(locale_t before);

#endif
