/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/algorithm/spec.h"

#include "lib/base/error.h"
#include "lib/base/size.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

coll_values coll_values_default(const coll_algorithm *algorithm) {
    coll_values values = {{0}};
    for (int i = 0; algorithm->params[i].name; i++)
        values.at[i] = algorithm->params[i].fallback;
    return values;
}

static int unknown_algorithm(const char *setting, const char *text,
                             const coll_algorithm *const table[]) {
    char names[160] = "auto";
    for (; *table; table++)
        coll_error_list(names, sizeof names, (*table)->name);
    return coll_error(MPI_ERR_ARG, "%s=%s: unknown algorithm; allowed: %s", setting, text, names);
}

static int unknown_param(const char *setting, const char *text, const coll_algorithm *algorithm) {
    char names[160] = "";
    for (const coll_param *p = algorithm->params; p->name; p++)
        coll_error_list(names, sizeof names, p->name);
    return coll_error(MPI_ERR_ARG, "%s=%s: unknown parameter; %s takes: %s", setting, text,
                      algorithm->name, *names ? names : "none");
}

static int bad_value(const char *setting, const char *text, const coll_param *param) {
    char lowest[32], highest[32];
    coll_spec_print_size(param->lowest, lowest, sizeof lowest);
    coll_spec_print_size(param->highest, highest, sizeof highest);
    return coll_error(MPI_ERR_ARG, "%s=%s: %s must be %s to %s", setting, text, param->name, lowest,
                      highest);
}

static bool is_named(const char *name, const char *text, size_t length) {
    return name && strlen(name) == length && strncmp(name, text, length) == 0;
}

/* Parses ITEM, "name=value" of LENGTH characters; GIVEN marks the parameters seen so far. */
static int parse_param(const char *setting, const char *text, const char *item, size_t length,
                       coll_spec *spec, bool given[COLL_PARAMS_MAX]) {
    const char *equals = memchr(item, '=', length);
    size_t name_length = equals ? (size_t)(equals - item) : length;
    const coll_param *params = spec->algorithm->params;
    for (int i = 0; params[i].name; i++) {
        if (!is_named(params[i].name, item, name_length) &&
            !is_named(params[i].formerly, item, name_length))
            continue;
        uint64_t value;
        if (!equals || !coll_spec_size(equals + 1, length - name_length - 1, &value) ||
            value < params[i].lowest || value > params[i].highest)
            return bad_value(setting, text, &params[i]);
        if (given[i])
            return coll_error(MPI_ERR_ARG, "%s=%s: %s is there twice; keep one", setting, text,
                              params[i].name);
        given[i] = true;
        spec->values.at[i] = value;
        return MPI_SUCCESS;
    }
    return unknown_param(setting, text, spec->algorithm);
}

int coll_spec_parse(const char *setting, const char *text, const coll_algorithm *const table[],
                    coll_spec *spec) {
    spec->algorithm = NULL;
    if (!text || strcmp(text, "auto") == 0)
        return MPI_SUCCESS;
    if (strlen(text) >= COLL_SPEC_MAX)
        return coll_error(MPI_ERR_ARG, "%s=%.40s...: longer than %d characters", setting, text,
                          COLL_SPEC_MAX - 1);

    size_t length = strcspn(text, ":");
    for (const coll_algorithm *const *a = table; *a; a++)
        if (is_named((*a)->name, text, length) || is_named((*a)->formerly, text, length))
            spec->algorithm = *a;
    if (!spec->algorithm)
        return unknown_algorithm(setting, text, table);

    bool given[COLL_PARAMS_MAX] = {false};
    spec->values = coll_values_default(spec->algorithm);
    const char *item = text + length;
    while (*item) {
        item++;
        size_t item_length = strcspn(item, ",");
        int code = parse_param(setting, text, item, item_length, spec, given);
        if (code != MPI_SUCCESS)
            return code;
        item += item_length;
    }
    return MPI_SUCCESS;
}

void coll_spec_print(const coll_algorithm *algorithm, const coll_values *values, char *text,
                     size_t size) {
    snprintf(text, size, "%s", algorithm->name);
    for (int i = 0; algorithm->params[i].name; i++) {
        char value[32];
        coll_spec_print_size(values->at[i], value, sizeof value);
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%c%s=%s", i ? ',' : ':', algorithm->params[i].name,
                 value);
    }
}

void coll_spec_print_params(const coll_algorithm *algorithm, char *text, size_t size) {
    *text = '\0';
    for (const coll_param *p = algorithm->params; p->name; p++) {
        char lowest[32], highest[32];
        coll_spec_print_size(p->lowest, lowest, sizeof lowest);
        coll_spec_print_size(p->highest, highest, sizeof highest);
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%-8s %4s to %-5s %s\n", p->name, lowest, highest,
                 p->help);
    }
}
