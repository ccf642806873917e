/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/comm/settings.h"

#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/base/library.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int copy_setting(const char *name, char *into, size_t size) {
    const char *value = coll_env(name);
    if (value && strlen(value) >= size)
        return coll_error(MPI_ERR_ARG, "%s is longer than %zu characters", name, size - 1);
    strcpy(into, value ? value : "");
    return MPI_SUCCESS;
}

int coll_settings_check_reproducible(const char *source, const coll_operation_info *operation,
                                     const coll_spec *named) {
    char allowed[200] = "auto";
    if (!named->algorithm || !operation->reduces || named->algorithm->reproducible)
        return MPI_SUCCESS;
    for (const coll_algorithm *const *a = operation->table; *a; a++)
        if ((*a)->reproducible)
            coll_error_list(allowed, sizeof allowed, (*a)->name);
    return coll_error(MPI_ERR_ARG, "%s: %s is not reproducible; COLL_REPRODUCIBLE=1 allows %s",
                      source, named->algorithm->name, allowed);
}

/* Makes every operation run natively, if it has a native algorithm. */
static void make_all_native(coll_agreed_settings *found) {
    found->reproducible = false;
    for (int i = 0; i < COLL_OPERATIONS; i++)
        if (coll_operations[i].table[0]->native)
            strcpy(found->specs[i], "native");
}

/* Checks OPERATION's setting in FOUND; SOURCE is the variable or info key that set it. */
static int check_spec(const char *source, coll_operation operation,
                      const coll_agreed_settings *found) {
    const coll_operation_info *info = &coll_operations[operation];
    const char *spec = found->specs[operation];
    coll_spec named;
    int code = coll_spec_parse(source, *spec ? spec : NULL, info->table, &named);
    return code == MPI_SUCCESS && found->reproducible
               ? coll_settings_check_reproducible(source, info, &named)
               : code;
}

static int read_specs(coll_agreed_settings *found) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < COLL_OPERATIONS && code == MPI_SUCCESS; i++) {
        const char *source = coll_operations[i].variable;
        code = copy_setting(source, found->specs[i], sizeof found->specs[i]);
        if (code == MPI_SUCCESS)
            code = check_spec(source, (coll_operation)i, found);
    }
    return code;
}

/* Reads OPERATION's info key; "" if it is not set. */
static void read_key(MPI_Info info, coll_operation operation, char value[COLL_SPEC_MAX]) {
    int is_set = 0;
    (void)PMPI_Info_get(info, coll_operations[operation].info_key, COLL_SPEC_MAX - 1, value,
                        &is_set);
    if (!is_set)
        *value = '\0';
}

bool coll_settings_has_info(MPI_Comm comm) {
    char value[COLL_SPEC_MAX] = "";
    MPI_Info info;
    int keys = 0;
    if (PMPI_Comm_get_info(comm, &info) != MPI_SUCCESS)
        return false;
    (void)PMPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < COLL_OPERATIONS && keys > 0 && !*value; i++)
        read_key(info, (coll_operation)i, value);
    PMPI_Info_free(&info);
    return *value;
}

int coll_settings_read_info(MPI_Comm comm, coll_agreed_settings *found) {
    MPI_Info info;
    int code = PMPI_Comm_get_info(comm, &info);
    if (code != MPI_SUCCESS)
        return code;
    for (int i = 0; i < COLL_OPERATIONS && code == MPI_SUCCESS; i++) {
        char value[COLL_SPEC_MAX] = "";
        read_key(info, (coll_operation)i, value);
        if (!*value)
            continue;
        strcpy(found->specs[i], value);
        code = check_spec(coll_operations[i].info_key, (coll_operation)i, found);
    }
    PMPI_Info_free(&info);
    if (found->disabled)
        make_all_native(found);
    return code;
}

/* Reads the settings that name files or directories. */
static int read_sources(coll_agreed_settings *found) {
    int code = copy_setting("COLL_TOPOLOGY", found->topology, sizeof found->topology);
    if (code == MPI_SUCCESS)
        code = copy_setting("COLL_LATENCIES", found->latencies, sizeof found->latencies);
    if (code == MPI_SUCCESS)
        code = copy_setting("COLL_RECORD", found->record, sizeof found->record);
    return code == MPI_SUCCESS ? copy_setting("COLL_PROFILE", found->profile, sizeof found->profile)
                               : code;
}

/* Reads the settings that are one of a few words. */
static int read_words(coll_agreed_settings *found) {
    static const char *const progress[] = {"calls", "thread", NULL};
    static const char *const learn[] = {[COLL_AUTOTUNE_NOTHING] = "0",
                                        [COLL_AUTOTUNE_MOVES] = "1",
                                        [COLL_AUTOTUNE_ALL] = "all",
                                        NULL};
    int manner = COLL_WAIT_AUTO, thread = false, learnt = COLL_AUTOTUNE_MOVES;
    int code = coll_env_word("COLL_WAIT", coll_wait_manners, &manner);
    if (code == MPI_SUCCESS)
        code = coll_env_word("COLL_PROGRESS", progress, &thread);
    if (code == MPI_SUCCESS)
        code = coll_env_word("COLL_LEARN", learn, &learnt);
    found->manner = (coll_wait_manner)manner;
    found->progress_thread = thread;
    found->learn = (coll_autotune_what)learnt;
    return code;
}

static bool ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), end = strlen(ending);
    return length > end && strcmp(text + length - end, ending) == 0;
}

/* Checks that the directory of PATH, the report's file, can be written to. */
static int check_directory(const char *path) {
    char directory[4096];
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash - path) + 1 : 0;
    if (snprintf(directory, sizeof directory, "%.*s.", length, path) >= (int)sizeof directory)
        return coll_error(MPI_ERR_ARG, "COLL_REPORT is longer than %zu characters",
                          sizeof directory - 2);
    return access(directory, W_OK) == 0
               ? MPI_SUCCESS
               : coll_error(MPI_ERR_ARG,
                            "COLL_REPORT=%s: %s; name a file in a directory that can be written to",
                            path, strerror(errno));
}

/* Reads COLL_REPORT. The process that prints messages checks the directory, since the file will be
 * on its host. */
static int read_report(bool *report) {
    const char *text = coll_env("COLL_REPORT");
    *report = text && strcmp(text, "0") != 0;
    if (!*report || strcmp(text, "1") == 0)
        return MPI_SUCCESS;
    if (!ends_with(text, ".txt") && !ends_with(text, ".json") && !ends_with(text, ".svg"))
        return coll_error(
            MPI_ERR_ARG, "COLL_REPORT=%s: must be 0, 1, or a file that ends in .txt, .json or .svg",
            text);
    return coll_library_is_speaker() ? check_directory(text) : MPI_SUCCESS;
}

int coll_settings_read(MPI_Comm comm, coll_agreed_settings *found) {
    int code = coll_env_check();
    if (code == MPI_SUCCESS)
        code = coll_env_switch("COLL_REPRODUCIBLE", &found->reproducible);
    if (code == MPI_SUCCESS)
        code = read_specs(found);
    if (code == MPI_SUCCESS)
        code = coll_env_switch("COLL_DISABLE", &found->disabled);
    if (code == MPI_SUCCESS && comm != MPI_COMM_NULL)
        code = coll_settings_read_info(comm, found);
    if (code == MPI_SUCCESS)
        code = read_sources(found);
    if (code == MPI_SUCCESS)
        code = coll_env_seconds("COLL_TIMEOUT", &found->timeout);
    if (code == MPI_SUCCESS)
        code = coll_env_switch("COLL_TRACE", &found->trace);
    if (code == MPI_SUCCESS)
        code = read_report(&found->report);
    return code == MPI_SUCCESS ? read_words(found) : code;
}

int coll_settings_parse(coll_agreed_settings *settings) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < COLL_OPERATIONS && code == MPI_SUCCESS; i++) {
        const char *spec = settings->specs[i];
        code = coll_spec_parse(coll_operations[i].variable, *spec ? spec : NULL,
                               coll_operations[i].table, &settings->parsed[i]);
    }
    return code;
}

int coll_settings_check(void) {
    coll_agreed_settings ignored;
    return coll_settings_read(MPI_COMM_NULL, &ignored);
}

void coll_settings_carry(coll_pack_buffer *pack, coll_agreed_settings *settings) {
    for (int i = 0; i < COLL_OPERATIONS; i++)
        coll_pack_buffer_move_text(pack, settings->specs[i], sizeof settings->specs[i]);
    coll_pack_buffer_move_text(pack, settings->topology, sizeof settings->topology);
    coll_pack_buffer_move_text(pack, settings->latencies, sizeof settings->latencies);
    coll_pack_buffer_move_text(pack, settings->profile, sizeof settings->profile);
    coll_pack_buffer_move_text(pack, settings->record, sizeof settings->record);
    coll_pack_buffer_move(pack, &settings->timeout,
                          sizeof *settings - offsetof(coll_agreed_settings, timeout));
}
