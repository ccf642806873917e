#include "config.h"

#include "lib/base/comm.h"

#include "lib/aggregate/aggregate.h"
#include "lib/base/agree.h"
#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/base/spare.h"
#include "lib/base/substitute.h"
#include "lib/base/trace.h"
#include "lib/bcast/bcast.h"
#include "lib/gather/gather.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const coll_operation_info coll_operations[COLL_OPERATIONS] = {
    [COLL_OPERATION_BCAST] = {"bcast", "COLL_BCAST", "coll_bcast", coll_bcast_table},
    [COLL_OPERATION_GATHER] = {"gather", "COLL_GATHER", "coll_gather", coll_gather_table},
    [COLL_OPERATION_AGGREGATE] = {"aggregate", "COLL_AGGREGATE", "coll_aggregate",
                                  coll_aggregate_table},
};

/*
 * Room for operations: what the algorithms' usual windows take, there from the start, so that no
 * rank need be asked about it later; and what is kept once more was needed. Pages that nobody
 * writes to take no memory.
 */
static const size_t LEAST_ROOM = (1 << 20) + (64 << 10), MOST_KEPT = 4 << 20;

/* Guards the two keys and the list of live states; states themselves belong to their users. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int state_key = MPI_KEYVAL_INVALID, finalize_key = MPI_KEYVAL_INVALID;
static coll_comm *live_states;

/* The state that a thread asked for last; it holds while no state has gone since. */
static atomic_uint gone;
static _Thread_local struct {
    MPI_Comm comm;
    coll_comm *state;
    unsigned gone;
} recent = {.state = NULL};

static void free_state(coll_comm *state) {
    if (state->wide)
        state->free_wide(state->wide);
    if (state->private != MPI_COMM_NULL)
        PMPI_Comm_free(&state->private);
    coll_profile_free(&state->loaded);
    coll_topo_free(&state->topo);
    free(state->order);
    free(state->visits);
    if (state->broken) { /* messages may still be under way into these */
        coll_wait_leave(state->room);
        coll_wait_leave(state);
        return;
    }
    free(state->room);
    free(state);
}

static void unlink_state(coll_comm *state) {
    pthread_mutex_lock(&lock);
    if (state->link_live) {
        *state->link_live = state->next_live;
        if (state->next_live)
            state->next_live->link_live = state->link_live;
    }
    pthread_mutex_unlock(&lock);
}

static int delete_state(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    atomic_fetch_add(&gone, 1);
    unlink_state(value);
    free_state(value);
    return MPI_SUCCESS;
}

/*
 * MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while MPI still works: the states of
 * communicators that nobody freed, MPI_COMM_WORLD's among them, are freed here.
 */
static int delete_all(MPI_Comm self, int key, void *value, void *extra) {
    (void)self, (void)key, (void)value, (void)extra;
    int code = MPI_SUCCESS;
    while (live_states && code == MPI_SUCCESS)
        code = PMPI_Comm_delete_attr(live_states->user, state_key);
    return code;
}

static int make_keys(void) {
    int code = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    if (state_key == MPI_KEYVAL_INVALID)
        code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_state, &state_key, NULL);
    if (code == MPI_SUCCESS && finalize_key == MPI_KEYVAL_INVALID) {
        code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_all, &finalize_key, NULL);
        if (code == MPI_SUCCESS)
            code = PMPI_Comm_set_attr(MPI_COMM_SELF, finalize_key, NULL);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

/* What rank 0 found in its environment, for all ranks: theirs may differ or be empty. */
typedef struct settings {
    int code; /* MPI_SUCCESS, or the class of an error that TEXT describes */
    char text[MPI_MAX_ERROR_STRING];
    char specs[COLL_OPERATIONS][COLL_SPEC_MAX];
    char topology[4096];
    char latencies[4096];
    char profile[COLL_PROFILE_SOURCE];
    double timeout;
    bool trace;
    coll_wait_manner manner;
} settings;

/* The value of an info key of COMM, or "" */
static void read_info(MPI_Comm comm, const char *key, char *value, int size) {
    MPI_Info info;
    int found = 0;
    *value = '\0';
    if (PMPI_Comm_get_info(comm, &info) != MPI_SUCCESS)
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
        coll_spec ignored;
        int code = coll_spec_parse(source, *found->specs[i] ? found->specs[i] : NULL,
                                   operation->table, &ignored);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

static int read_settings(MPI_Comm comm, settings *found) {
    int code = coll_env_check();
    if (code == MPI_SUCCESS)
        code = read_specs(comm, found);
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
    return code;
}

int coll_comm_check_settings(void) {
    settings ignored = {.code = MPI_SUCCESS};
    return read_settings(MPI_COMM_SELF, &ignored);
}

/* Rank 0 reads the settings and all take them, its errors included. */
static int agree_on_settings(MPI_Comm comm, coll_comm *state, settings *agreed) {
    memset(agreed, 0, sizeof *agreed);
    if (state->rank == 0) {
        int code = read_settings(comm, agreed);
        if (code != MPI_SUCCESS) {
            int length;
            PMPI_Error_class(code, &agreed->code);
            PMPI_Error_string(code, agreed->text, &length);
        }
    }
    int code = PMPI_Bcast(agreed, (int)sizeof *agreed, MPI_BYTE, 0, state->private);
    if (code == MPI_SUCCESS && agreed->code != MPI_SUCCESS)
        code = coll_error(agreed->code, "%s", agreed->text);
    for (int i = 0; i < COLL_OPERATIONS && code == MPI_SUCCESS; i++)
        code = coll_spec_parse(coll_operations[i].variable,
                               *agreed->specs[i] ? agreed->specs[i] : NULL,
                               coll_operations[i].table, &state->specs[i]);
    return code;
}

/*
 * Same ranks, own messages. Not MPI_Comm_dup, which would call the copy functions of the user's
 * attributes behind the user's back.
 */
static int make_private(MPI_Comm comm, MPI_Comm *private) {
    MPI_Group group;
    int code = PMPI_Comm_group(comm, &group);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Comm_create(comm, group, private);
    PMPI_Group_free(&group);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_errhandler(*private, MPI_ERRORS_RETURN);
    return code;
}

/* As the decision layer does on one node (lib/operation/select.c). */
static void decide_to_stand_back(coll_comm *state) {
    for (int i = 0; i < COLL_OPERATIONS; i++)
        state->stands_back[i] =
            state->topo.nodes == 1 && !state->trace && !state->specs[i].algorithm;
}

/* What every communicator needs from the start; the same outcome on all ranks. */
static int make_memory(coll_comm *state) {
    size_t ranks = (size_t)state->ranks;
    state->order_root = -1;
    state->order = malloc(ranks * sizeof *state->order);
    state->visits = malloc(ranks * sizeof *state->visits);
    state->room = malloc(LEAST_ROOM);
    state->room_bytes = LEAST_ROOM;
    bool good = state->order && state->visits && state->room;
    return coll_agree(state, good
                                 ? MPI_SUCCESS
                                 : coll_error(MPI_ERR_NO_MEM, "no memory for the state of %d ranks",
                                              state->ranks));
}

static int find_oneself(coll_comm *state) {
    int code = PMPI_Comm_rank(state->private, &state->rank);
    return code == MPI_SUCCESS ? PMPI_Comm_size(state->private, &state->ranks) : code;
}

static int fill_state(MPI_Comm comm, coll_comm *state) {
    settings agreed;
    int code = make_private(comm, &state->private);
    if (code == MPI_SUCCESS)
        code = find_oneself(state);
    if (code == MPI_SUCCESS)
        code = make_memory(state);
    if (code == MPI_SUCCESS)
        code = agree_on_settings(comm, state, &agreed);
    if (code == MPI_SUCCESS)
        code = coll_topo_create(state->private, agreed.topology, &state->topo);
    if (code == MPI_SUCCESS)
        code = coll_profile_load(state->private, agreed.profile, &state->topo, &state->loaded);
    if (code != MPI_SUCCESS)
        return code;
    coll_wait_init(&state->wait, &state->topo, agreed.manner, agreed.timeout);
    state->profile = &state->loaded;
    strcpy(state->topology, agreed.topology);
    strcpy(state->latencies, agreed.latencies);
    state->trace = agreed.trace && state->rank == 0;
    state->window_share = 1;
    state->plain_type = MPI_DATATYPE_NULL;
    decide_to_stand_back(state);
    coll_trace_topology(state);
    return MPI_SUCCESS;
}

/*
 * The first thing that ranks do together on COMM: learn whether all are READY. None goes on to what
 * waits in the MPI library, without a time-out, before all are here. The settings aren't agreed
 * yet: how long a rank waits, and how, is its own affair. It takes two rounds: where one rank gave
 * up just before the last one came, some ranks have seen the first round end. They find out in the
 * second, which all others enter at once, so that longer patience makes nobody miss it.
 */
enum { SECOND_PATIENCE = 10 };
static int meet(MPI_Comm comm, bool ready) {
    struct {
        int ready, all;
    } *census = coll_spare_alloc(sizeof *census);
    if (!census)
        return coll_error(MPI_ERR_NO_MEM, "not even %zu bytes left", sizeof *census);
    coll_wait wait = {.manner = COLL_WAIT_AUTO};
    (void)coll_wait_manner_parse(coll_env("COLL_WAIT"), &wait.manner);
    (void)coll_env_seconds("COLL_TIMEOUT", &wait.timeout);
    census->ready = ready;
    int code = MPI_SUCCESS;
    for (int round = 0; round < 2 && code == MPI_SUCCESS;
         round++, wait.timeout *= SECOND_PATIENCE) {
        MPI_Request request;
        code = PMPI_Iallreduce(&census->ready, &census->all, 1, MPI_INT, MPI_MIN, comm, &request);
        if (code == MPI_SUCCESS)
            code = coll_wait_all(&wait, 1, &request, NULL);
    }
    if (code != MPI_SUCCESS) {
        coll_wait_leave(census); /* MPI may still write to it */
        return code;
    }
    bool all = census->all;
    coll_spare_free(census);
    return all ? MPI_SUCCESS
               : coll_error(MPI_ERR_NO_MEM, "no memory for a communicator's state on some rank");
}

static int make_state(MPI_Comm comm, coll_comm **made) {
    coll_comm *state = calloc(1, sizeof *state);
    int ready = meet(comm, state != NULL);
    if (ready != MPI_SUCCESS) {
        free(state);
        return ready;
    }
    state->user = comm;
    state->private = MPI_COMM_NULL;
    int code = fill_state(comm, state);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_attr(comm, state_key, state);
    if (code != MPI_SUCCESS) {
        free_state(state);
        return code;
    }
    pthread_mutex_lock(&lock);
    state->next_live = live_states;
    state->link_live = &live_states;
    if (live_states)
        live_states->link_live = &state->next_live;
    live_states = state;
    pthread_mutex_unlock(&lock);
    *made = state;
    return MPI_SUCCESS;
}

/* Gives PART, whose private communicator is there, what else it needs. */
static int fill_part(const coll_comm *whole, coll_comm *part) {
    part->profile = whole->profile;
    part->wait = whole->wait;
    part->plain_type = MPI_DATATYPE_NULL;
    int code = PMPI_Comm_set_errhandler(part->private, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = find_oneself(part);
    if (code == MPI_SUCCESS)
        code = make_memory(part);
    int *members = part->order; /* they are listed there until an order is asked for */
    if (code == MPI_SUCCESS)
        code = PMPI_Allgather(&whole->rank, 1, MPI_INT, members, 1, MPI_INT, part->private);
    if (code == MPI_SUCCESS)
        code = coll_agree(part, coll_topo_part(&whole->topo, part->ranks, members, &part->topo));
    return code;
}

int coll_comm_part(coll_comm *whole, int color, coll_comm **part) {
    coll_comm *made = calloc(1, sizeof *made);
    int code = coll_agree(
        whole,
        made ? MPI_SUCCESS : coll_error(MPI_ERR_NO_MEM, "no memory for a communicator's state"));
    if (code != MPI_SUCCESS) {
        free(made);
        return code;
    }
    made->user = made->private = MPI_COMM_NULL;
    code = PMPI_Comm_split(whole->private, color, whole->rank, &made->private);
    if (code == MPI_SUCCESS)
        code = fill_part(whole, made);
    code = coll_agree(whole, code);
    if (code == MPI_SUCCESS)
        *part = made;
    else
        free_state(made);
    return code;
}

void coll_comm_free_part(coll_comm *part) {
    if (part)
        free_state(part);
}

coll_dcp_substitute coll_dcp_substituted = {MPI_COMM_NULL, MPI_COMM_NULL};

coll_comm *coll_comm_recent(MPI_Comm comm) {
    comm = coll_dcp_comm(comm);
    bool valid = recent.state && recent.comm == comm && recent.gone == atomic_load(&gone);
    return valid && recent.state->broken == MPI_SUCCESS ? recent.state : NULL;
}

static void remember(MPI_Comm comm, coll_comm *state) {
    recent.comm = comm;
    recent.state = state;
    recent.gone = atomic_load(&gone);
}

int coll_comm_get(MPI_Comm comm, coll_comm **state) {
    comm = coll_dcp_comm(comm);
    int found, code = make_keys();
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Comm_get_attr(comm, state_key, state, &found);
    if (code != MPI_SUCCESS)
        return code;
    if (!found)
        code = make_state(comm, state);
    if (code != MPI_SUCCESS)
        return code;
    remember(comm, *state);
    return (*state)->broken;
}

int coll_comm_set(coll_comm *comm, coll_operation operation, const char *setting,
                  const char *spec) {
    coll_spec parsed;
    int code = coll_spec_parse(setting, spec, coll_operations[operation].table, &parsed);
    if (code != MPI_SUCCESS)
        return code;
    comm->specs[operation] = parsed;
    memset(comm->decisions[operation], 0, sizeof comm->decisions[operation]);
    decide_to_stand_back(comm);
    return MPI_SUCCESS;
}

static int size_class(size_t bytes) {
    int class = 0;
    while (bytes >>= 1)
        class ++;
    return class;
}

const coll_decision *coll_comm_decision(const coll_comm *comm, coll_operation operation,
                                        size_t bytes) {
    return &comm->decisions[operation][size_class(bytes)];
}

/* Over several sites latencies may be measured anew at any time, and choices change with them. */
coll_choice coll_comm_choose(coll_comm *comm, coll_operation operation, const coll_shape *shape) {
    coll_decision *last = &comm->decisions[operation][size_class(shape->bytes)];
    if (!last->choice.algorithm || last->bytes != shape->bytes || last->root != shape->root ||
        comm->topo.sites > 1) {
        last->choice = coll_select(coll_operations[operation].table, shape, comm->profile,
                                   &comm->specs[operation]);
        last->bytes = shape->bytes;
        last->root = shape->root;
    }
    return last->choice;
}

const int *coll_comm_order(coll_comm *comm, int root) {
    if (comm->order_root != root) {
        coll_order_chain(&comm->topo, root, comm->visits, comm->order);
        comm->order_root = root;
        for (int i = 0; i < comm->ranks; i++)
            if (comm->order[i] == comm->rank)
                comm->position = i;
    }
    return comm->order;
}

int coll_comm_position(const coll_comm *comm) {
    return comm->position;
}

int coll_comm_room(coll_comm *comm, size_t bytes, void **memory) {
    if (bytes <= comm->room_bytes) {
        *memory = comm->room;
        return MPI_SUCCESS;
    }
    size_t wanted = bytes < MOST_KEPT ? MOST_KEPT : bytes;
    void *made = malloc(wanted);
    int code =
        coll_agree(comm, made ? MPI_SUCCESS
                              : coll_error(MPI_ERR_NO_MEM,
                                           "no memory for %zu bytes that are under way", wanted));
    if (code != MPI_SUCCESS) {
        free(made);
        return code;
    }
    free(comm->room);
    comm->room = *memory = made;
    comm->room_bytes = wanted;
    return MPI_SUCCESS;
}

void coll_comm_leave_room(coll_comm *comm) {
    if (comm->room_bytes <= MOST_KEPT || comm->broken)
        return;
    void *kept = realloc(comm->room, MOST_KEPT);
    if (kept)
        comm->room = kept;
    comm->room_bytes = MOST_KEPT;
}
