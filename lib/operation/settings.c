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
        if (strcmp(coll_operations[i].table[0]->name, "native") == 0)
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

static int read_progress(bool *thread) {
    const char *text = coll_env("COLL_PROGRESS");
    *thread = text && strcmp(text, "thread") == 0;
    return !text || *thread || strcmp(text, "calls") == 0
               ? MPI_SUCCESS
               : coll_error(MPI_ERR_ARG, "COLL_PROGRESS=%s: allowed: calls, thread", text);
}

static int read_learn(coll_learn_what *what) {
    const char *text = coll_env("COLL_LEARN");
    *what = text && strcmp(text, "all") == 0 ? COLL_LEARN_ALL
            : text && strcmp(text, "0") == 0 ? COLL_LEARN_NOTHING
                                             : COLL_LEARN_MOVES;
    return !text || *what != COLL_LEARN_MOVES || strcmp(text, "1") == 0
               ? MPI_SUCCESS
               : coll_error(MPI_ERR_ARG, "COLL_LEARN=%s: allowed: 0, 1, all", text);
}

static int read_settings(MPI_Comm comm, coll_agreed_settings *found) {
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
        code = copy_setting("COLL_TOPOLOGY", found->topology, sizeof found->topology);
    if (code == MPI_SUCCESS)
        code = copy_setting("COLL_LATENCIES", found->latencies, sizeof found->latencies);
    if (code == MPI_SUCCESS)
        code = copy_setting("COLL_PROFILE", found->profile, sizeof found->profile);
    if (code == MPI_SUCCESS)
        code = coll_env_seconds("COLL_TIMEOUT", &found->timeout);
    if (code == MPI_SUCCESS)
        code = coll_wait_manner_parse(coll_env("COLL_WAIT"), &found->manner);
    if (code == MPI_SUCCESS)
        code = coll_env_switch("COLL_TRACE", &found->trace);
    if (code == MPI_SUCCESS)
        code = read_progress(&found->progress_thread);
    if (code == MPI_SUCCESS)
        code = read_learn(&found->learn);
    return code;
}

int coll_settings_check(void) {
    coll_agreed_settings ignored;
    return read_settings(MPI_COMM_NULL, &ignored);
}

/* --- From rank 0 to all --- */

/*
 * The settings on their way, or an error. Most are unset: TEXT has all strings, one behind the
 * other, of which the first SHORT bytes go with the rest.
 */
enum { SHORT = 512, LONGEST = sizeof(coll_agreed_settings) };
typedef struct message {
    int code; /* MPI_SUCCESS, or the class of an error that the text describes */
    int bytes;
    double timeout;
    bool reproducible, trace, progress_thread;
    unsigned char learn; /* a coll_learn_what */
    coll_wait_manner manner;
    char text[LONGEST];
} message;

/* Calls MOVE for each string of SETTINGS, and the bytes that it may have, to or from TEXT. */
static void each_text(coll_agreed_settings *settings, char **text,
                      void (*move)(char *setting, size_t size, char **text)) {
    for (int i = 0; i < COLL_OPERATIONS; i++)
        move(settings->specs[i], sizeof settings->specs[i], text);
    move(settings->topology, sizeof settings->topology, text);
    move(settings->latencies, sizeof settings->latencies, text);
    move(settings->profile, sizeof settings->profile, text);
}

static void pack_text(char *setting, size_t size, char **text) {
    (void)size;
    strcpy(*text, setting);
    *text += strlen(setting) + 1;
}

static void unpack_text(char *setting, size_t size, char **text) {
    memcpy(setting, *text, strnlen(*text, size - 1) + 1);
    *text += strlen(setting) + 1;
}

static void pack(coll_agreed_settings *settings, message *packed) {
    char *end = packed->text;
    packed->timeout = settings->timeout;
    packed->reproducible = settings->reproducible;
    packed->trace = settings->trace;
    packed->progress_thread = settings->progress_thread;
    packed->manner = settings->manner;
    packed->learn = (unsigned char)settings->learn;
    each_text(settings, &end, pack_text);
    packed->bytes = (int)(end - packed->text);
}

static void unpack(message *packed, coll_agreed_settings *settings) {
    char *text = packed->text;
    *settings = (coll_agreed_settings){.timeout = packed->timeout,
                                       .reproducible = packed->reproducible,
                                       .trace = packed->trace,
                                       .progress_thread = packed->progress_thread,
                                       .manner = packed->manner,
                                       .learn = (coll_learn_what)packed->learn};
    each_text(settings, &text, unpack_text);
}

static void pack_error(int code, message *packed) {
    int length;
    packed->code = coll_error_class(code);
    PMPI_Error_string(code, packed->text, &length);
    packed->bytes = length + 1;
}

int coll_settings_share(const coll_comm *comm, coll_agreed_settings *shared) {
    message sent = {.code = MPI_SUCCESS};
    if (comm->rank == 0) {
        int found = read_settings(comm->user, shared);
        if (found == MPI_SUCCESS)
            pack(shared, &sent);
        else
            pack_error(found, &sent);
    }
    int code = PMPI_Bcast(&sent, offsetof(message, text) + SHORT, MPI_BYTE, 0, comm->private);
    if (code == MPI_SUCCESS && sent.bytes > SHORT)
        code = PMPI_Bcast(sent.text + SHORT, sent.bytes - SHORT, MPI_BYTE, 0, comm->private);
    if (code == MPI_SUCCESS && sent.code != MPI_SUCCESS)
        code = coll_error(sent.code, "%s", sent.text);
    if (code == MPI_SUCCESS)
        unpack(&sent, shared);
    return code;
}
