#include "config.h"

#include "lib/operation/state.h"

#include "lib/base/agree.h"
#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/base/spare.h"
#include "lib/operation/trace.h"

#include <string.h>

/* What rank 0 found in its environment, for all ranks: theirs may differ or be empty. */
typedef struct settings {
    int code; /* MPI_SUCCESS, or the class of an error that TEXT describes */
    char text[MPI_MAX_ERROR_STRING];
    char specs[COLL_OPERATIONS][COLL_SPEC_MAX];
    char topology[4096];
    char latencies[4096];
    char profile[COLL_PROFILE_SOURCE];
    double timeout;
    bool reproducible, trace, progress_thread;
    coll_wait_manner manner;
} settings;

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

/* The user may not ask for what gives other bits than the rest of the table. */
static int check_reproducible(const char *source, const coll_operation_info *operation,
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
static void disable(settings *found) {
    found->reproducible = false;
    for (int i = 0; i < COLL_OPERATIONS; i++)
        if (strcmp(coll_operations[i].table[0]->name, "native") == 0)
            strcpy(found->specs[i], "native");
}

static int read_specs(MPI_Comm comm, settings *found) {
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
            code = check_reproducible(source, operation, &named);
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

static int read_settings(MPI_Comm comm, settings *found) {
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
    return code;
}

int coll_state_check_settings(void) {
    settings ignored = {.code = MPI_SUCCESS};
    return read_settings(MPI_COMM_NULL, &ignored);
}

/* Rank 0 reads the settings and all take them, its errors included. */
static int agree_on_settings(const coll_comm *comm, coll_state *state, settings *agreed) {
    memset(agreed, 0, sizeof *agreed);
    if (comm->rank == 0) {
        int code = read_settings(comm->user, agreed);
        if (code != MPI_SUCCESS) {
            int length;
            PMPI_Error_class(code, &agreed->code);
            PMPI_Error_string(code, agreed->text, &length);
        }
    }
    int code = PMPI_Bcast(agreed, (int)sizeof *agreed, MPI_BYTE, 0, comm->private);
    if (code == MPI_SUCCESS && agreed->code != MPI_SUCCESS)
        code = coll_error(agreed->code, "%s", agreed->text);
    for (int i = 0; i < COLL_OPERATIONS && code == MPI_SUCCESS; i++)
        code = coll_spec_parse(coll_operations[i].variable,
                               *agreed->specs[i] ? agreed->specs[i] : NULL,
                               coll_operations[i].table, &state->specs[i]);
    return code;
}

/* Whether calls of OPERATION must be. */
static bool is_reproducible(const coll_state *state, coll_operation operation) {
    return state->reproducible && coll_operations[operation].reduces;
}

static void forget(coll_state *state, coll_operation operation) {
    coll_spare_free(state->decisions[operation].last);
    coll_spare_free(state->started[operation].last);
}

/* Whether nobody asked for anything else, and the ranks are where it is hard to beat. */
static bool is_left_to_mpi(const coll_state *state, coll_operation operation) {
    return !is_reproducible(state, operation) &&
           coll_select_native(&state->topo, &state->specs[operation]);
}

bool coll_state_always_native(const coll_state *state, coll_operation operation) {
    const coll_algorithm *asked = state->specs[operation].algorithm,
                         *head = coll_operations[operation].table[0];
    return asked ? asked == head && strcmp(head->name, "native") == 0
                 : is_left_to_mpi(state, operation);
}

/* Forgets what was decided for OPERATION. */
static void begin_anew(coll_state *state, coll_operation operation) {
    forget(state, operation);
    state->started[operation] = (coll_decisions){.native = false};
    state->decisions[operation] =
        (coll_decisions){.native = !state->trace && is_left_to_mpi(state, operation)};
}

static int open_whole(coll_comm *comm, coll_state *state) {
    settings agreed;
    int code = agree_on_settings(comm, state, &agreed);
    if (code == MPI_SUCCESS)
        code = coll_topo_create(comm->private, agreed.topology, &state->topo);
    if (code == MPI_SUCCESS)
        code = coll_profile_load(comm->private, agreed.profile, &state->topo, &state->loaded);
    if (code != MPI_SUCCESS)
        return code;
    coll_wait_init(&comm->wait, state->topo.crowded, agreed.manner, agreed.timeout);
    state->profile = &state->loaded;
    strcpy(state->topology, agreed.topology);
    strcpy(state->latencies, agreed.latencies);
    state->trace = agreed.trace && comm->rank == 0;
    state->progress_thread = agreed.progress_thread;
    state->reproducible = agreed.reproducible;
    for (int i = 0; i < COLL_OPERATIONS; i++)
        begin_anew(state, (coll_operation)i);
    coll_trace_topology(comm);
    return MPI_SUCCESS;
}

/* A part has its whole's profile, and settings of its own: none. */
static int open_part(coll_comm *comm, coll_state *state, const coll_comm *whole) {
    const coll_state *all = coll_state_of(whole);
    void *members;
    state->profile = all->profile;
    int code = coll_comm_room(comm, (size_t)comm->ranks * sizeof(int), &members);
    if (code == MPI_SUCCESS)
        code = PMPI_Allgather(&whole->rank, 1, MPI_INT, members, 1, MPI_INT, comm->private);
    if (code == MPI_SUCCESS)
        code = coll_agree(comm, coll_topo_part(&all->topo, comm->ranks, members, &state->topo));
    return code;
}

static int open_state(coll_comm *comm, const coll_comm *whole) {
    coll_state *state = coll_state_of(comm);
    state->comm = comm;
    state->plain_type = state->known_type = MPI_DATATYPE_NULL;
    state->known_op = MPI_OP_NULL;
    return whole ? open_part(comm, state, whole) : open_whole(comm, state);
}

static void close_state(void *slot) {
    coll_state *state = slot;
    for (int i = 0; i < COLL_OPERATIONS; i++)
        forget(state, (coll_operation)i);
    coll_profile_free(&state->loaded);
    coll_topo_free(&state->topo);
}

coll_comm_key coll_state_key = {
    .bytes = sizeof(coll_state), .open = open_state, .close = close_state};

int coll_state_set(coll_state *state, coll_operation operation, const char *setting,
                   const char *spec) {
    coll_spec parsed;
    int code = coll_spec_parse(setting, spec, coll_operations[operation].table, &parsed);
    if (code == MPI_SUCCESS && state->reproducible)
        code = check_reproducible(setting, &coll_operations[operation], &parsed);
    if (code != MPI_SUCCESS)
        return code;
    state->specs[operation] = parsed;
    begin_anew(state, operation);
    return MPI_SUCCESS;
}

coll_shape coll_state_shape(const coll_state *state, coll_operation operation, size_t bytes,
                            int root) {
    return (coll_shape){.operation = coll_operations[operation].name,
                        .sides = coll_operations[operation].sides,
                        .bytes = bytes,
                        .root = root,
                        .element =
                            coll_operations[operation].reduces, /* or more: who calls knows */
                        .ordered = is_reproducible(state, operation),
                        .reproducible = is_reproducible(state, operation),
                        .topo = &state->topo,
                        .profile = state->profile};
}

static int place_of(size_t bytes) {
    return coll_size_class(bytes) % COLL_DECISIONS;
}

static bool is_alike(const coll_shape *a, const coll_shape *b) {
    return a->bytes == b->bytes && a->root == b->root && coll_select_alike(a, b);
}

/* They may be measured anew at any time, alike on all ranks. */
static double all_latencies(const coll_topo *topo) {
    double all = 0;
    for (int i = 0; topo->latencies && i < topo->sites * topo->sites; i++)
        all += topo->latencies[i] * (i + 1);
    return all;
}

/* Whether what was decided LAST is good for CALL, too. */
static bool holds(const coll_decision *last, const coll_shape *call, double latencies) {
    const coll_algorithm *algorithm = last->choice.algorithm;
    if (!algorithm || last->latencies != latencies)
        return false;
    return is_alike(&last->call, call) ||
           (call->topo->sites == 1 && last->choice.predicted > 0 &&
            coll_select_alike(&last->call, call) && coll_select_applicable(algorithm, call));
}

static const coll_choice *decide(coll_state *state, coll_decisions *decisions,
                                 coll_operation operation, const coll_shape *call,
                                 coll_choice (*select)(const coll_algorithm *const table[],
                                                       const coll_shape *call,
                                                       const coll_spec *user)) {
    const coll_algorithm *const *table = coll_operations[operation].table;
    if (!decisions->last)
        decisions->last = coll_spare_calloc(COLL_DECISIONS, sizeof *decisions->last);
    coll_decision *last =
        decisions->last ? &decisions->last[place_of(call->bytes)] : &decisions->only;
    double latencies = all_latencies(&state->topo);
    if (!holds(last, call, latencies))
        last->choice = select(table, call, &state->specs[operation]);
    last->call = *call;
    last->latencies = latencies;
    last->native = state->topo.sites == 1 && !state->trace && last->choice.algorithm == table[0];
    return &last->choice;
}

const coll_choice *coll_state_choose(coll_state *state, coll_operation operation,
                                     const coll_shape *call) {
    return decide(state, &state->decisions[operation], operation, call, coll_select);
}

const coll_choice *coll_state_choose_started(coll_state *state, coll_operation operation,
                                             const coll_shape *call) {
    return decide(state, &state->started[operation], operation, call, coll_select_started);
}

bool coll_state_native_again(const coll_state *state, coll_operation operation,
                             const coll_shape *call) {
    const coll_decisions *decisions = &state->decisions[operation];
    const coll_decision *last =
        decisions->last ? &decisions->last[place_of(call->bytes)] : &decisions->only;
    return last->native && is_alike(&last->call, call);
}
