/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "app/json.h"

#include "lib/base/c_locale.h"

#include <math.h>

static void write_text(FILE *file, const char *text) {
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

static void write_value(FILE *file, const app_member *member) {
    if (member->kind == APP_JSON_TEXT)
        write_text(file, member->text);
    else if (member->kind == APP_JSON_INTEGER)
        fprintf(file, "%lld", (long long)member->integer);
    else if (isfinite(member->number))
        coll_c_locale_print(file, "%.9g", member->number);
    else
        fputs("null", file);
}

void app_json_write(FILE *file, const app_member members[], size_t count) {
    const char *before = "{";
    if (!file)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!members[i].key)
            continue;
        fputs(before, file);
        write_text(file, members[i].key);
        fputs(": ", file);
        write_value(file, &members[i]);
        before = ", ";
    }
    fputs("}\n", file);
}
