/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings in JSON. */
#ifndef COLL_LIB_BASE_JSON_H
#define COLL_LIB_BASE_JSON_H

#include <stdio.h>

/* Writes TEXT to FILE as a string of JSON, in quotes. */
static inline void coll_json_write_string(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

#endif
