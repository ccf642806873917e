/*
 * Numbers in text have a decimal point, and letters are those of ASCII, whatever locale the program
 * around the library has set: in settings, files, traces and messages. No MPI.
 */
#ifndef COLL_LIB_BASE_PLAIN_H
#define COLL_LIB_BASE_PLAIN_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Reads TEXT, all of it, as a decimal number: digits, a point, an exponent. False for anything
 * else, "nan", "inf", "0x1p3" and spaces too. What no double can hold becomes an infinity.
 */
bool coll_plain_number(const char *text, double *value);

/* fprintf */
void coll_plain_print(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Between the two this thread reads and writes so. Takes what begin returned. */
locale_t coll_plain_begin(void);
void coll_plain_end(locale_t before);

#endif
