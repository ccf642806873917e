/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "app/json.h"

#include "lib/base/c_locale.h"
#include "lib/base/json.h"

#include <math.h>

static void write_value(FILE *file, const app_member *member) {
    if (member->kind == APP_JSON_TEXT)
        coll_json_write_string(file, member->text);
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
        coll_json_write_string(file, members[i].key);
        fputs(": ", file);
        write_value(file, &members[i]);
        before = ", ";
    }
    fputs("}\n", file);
}
