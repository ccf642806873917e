#include "config.h"

#include "lib/operation/settings.h"

#include "lib/base/env.h"
#include "lib/base/error.h"

#include <stddef.h>
#include <string.h>

/* The value of an info key of COMM, or "" */
static void read_info(MPI_Comm comm, const char *key, char *value, int size) {
    MPI_Info info;
    int found = 0;
    *value = '\0';
    if (comm == MPI_COMM_NULL || PMPI_Comm_get_info(comm, &info) != MPI_SUCCESS)
        return;
    PMPI_Info_get(info, key, size - 1, value, &found);
    if (!found)
        *value = '\0';
    PMPI_Info_free(&info);
}

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

/* Everything by the MPI library's own, where there is one. */
static void disable(coll_agreed_settings *found) {
    found->reproducible = false;
    for (int i = 0; i < COLL_OPERATIONS; i++)
        if (coll_algorithm_is_native(coll_operations[i].table[0]))
            strcpy(found->specs[i], "native");
}

static int read_specs(MPI_Comm comm, coll_agreed_settings *found) {
    for (int i = 0; i < COLL_OPERATIONS; i++) {
        const coll_operation_info *operation = &coll_operations[i];
        const char *source = operation->info_key;
        read_info(comm, source, found->specs[i], sizeof found->specs[i]);
        if (!*found->specs[i]) {
            source = operation->variable;
            int code = copy_setting(source, found->specs[i], sizeof found->specs[i]);
            if (code != MPI_SUCCESS)
                return code;
        }
        coll_spec named;
        int code = coll_spec_parse(source, *found->specs[i] ? found->specs[i] : NULL,
                                   operation->table, &named);
        if (code == MPI_SUCCESS && found->reproducible)
            code = coll_settings_check_reproducible(source, operation, &named);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

/* Where files are. */
static int read_sources(coll_agreed_settings *found) {
    int code = copy_setting("COLL_TOPOLOGY", found->topology, sizeof found->topology);
    if (code == MPI_SUCCESS)
        code = copy_setting("COLL_LATENCIES", found->latencies, sizeof found->latencies);
    return code == MPI_SUCCESS ? copy_setting("COLL_PROFILE", found->profile, sizeof found->profile)
                               : code;
}

/* What is one of a few words. */
static int read_words(coll_agreed_settings *found) {
    static const char *const progress[] = {"calls", "thread", NULL};
    static const char *const learn[] = {
        [COLL_LEARN_NOTHING] = "0", [COLL_LEARN_MOVES] = "1", [COLL_LEARN_ALL] = "all", NULL};
    int manner = COLL_WAIT_AUTO, thread = false, learnt = COLL_LEARN_MOVES;
    int code = coll_env_word("COLL_WAIT", coll_wait_manners, &manner);
    if (code == MPI_SUCCESS)
        code = coll_env_word("COLL_PROGRESS", progress, &thread);
    if (code == MPI_SUCCESS)
        code = coll_env_word("COLL_LEARN", learn, &learnt);
    found->manner = (coll_wait_manner)manner;
    found->progress_thread = thread;
    found->learn = (coll_learn_what)learnt;
    return code;
}

int coll_settings_read(MPI_Comm comm, coll_agreed_settings *found) {
    bool disabled = false;
    int code = coll_env_check();
    if (code == MPI_SUCCESS)
        code = coll_env_switch("COLL_REPRODUCIBLE", &found->reproducible);
    if (code == MPI_SUCCESS)
        code = read_specs(comm, found);
    if (code == MPI_SUCCESS)
        code = coll_env_switch("COLL_DISABLE", &disabled);
    if (code == MPI_SUCCESS && disabled)
        disable(found);
    if (code == MPI_SUCCESS)
        code = read_sources(found);
    if (code == MPI_SUCCESS)
        code = coll_env_seconds("COLL_TIMEOUT", &found->timeout);
    if (code == MPI_SUCCESS)
        code = coll_env_switch("COLL_TRACE", &found->trace);
    return code == MPI_SUCCESS ? read_words(found) : code;
}

int coll_settings_check(void) {
    coll_agreed_settings ignored;
    return coll_settings_read(MPI_COMM_NULL, &ignored);
}

void coll_settings_carry(coll_parcel *parcel, coll_agreed_settings *settings) {
    for (int i = 0; i < COLL_OPERATIONS; i++)
        coll_parcel_move_text(parcel, settings->specs[i], sizeof settings->specs[i]);
    coll_parcel_move_text(parcel, settings->topology, sizeof settings->topology);
    coll_parcel_move_text(parcel, settings->latencies, sizeof settings->latencies);
    coll_parcel_move_text(parcel, settings->profile, sizeof settings->profile);
    coll_parcel_move(parcel, &settings->timeout,
                     sizeof *settings - offsetof(coll_agreed_settings, timeout));
}
