/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes JSON lines: one object a line. Texts are escaped; numbers that JSON can't represent become
 * null.
 */
#ifndef COLL_APP_JSON_H
#define COLL_APP_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A member of an object; left out if KEY is NULL. */
typedef struct app_member {
    const char *key;
    enum { APP_JSON_TEXT, APP_JSON_INTEGER, APP_JSON_NUMBER } kind;
    const char *text;
    int64_t integer;
    double number;
} app_member;

static inline app_member app_json_text(const char *key, const char *text) {
    return (app_member){.key = key, .kind = APP_JSON_TEXT, .text = text};
}

static inline app_member app_json_integer(const char *key, int64_t integer) {
    return (app_member){.key = key, .kind = APP_JSON_INTEGER, .integer = integer};
}

static inline app_member app_json_number(const char *key, double number) {
    return (app_member){.key = key, .kind = APP_JSON_NUMBER, .number = number};
}

static inline app_member app_json_if(bool there, app_member member) {
    return there ? member : (app_member){.key = NULL};
}

/* Writes an object as a line; does nothing if FILE is NULL. */
void app_json_write(FILE *file, const app_member members[], size_t count);

/* app_json(FILE, MEMBER...) writes an object of these members. */
#define app_json(file, ...)                                                                        \
    app_json_write(file, (const app_member[]){__VA_ARGS__},                                        \
                   sizeof((const app_member[]){__VA_ARGS__}) / sizeof(app_member))

#endif
