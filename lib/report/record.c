/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/report/record.h"

#include "lib/base/dcp_hooks.h"
#include "lib/base/error.h"
#include "lib/base/hash.h"
#include "lib/base/ticks.h"
#include "lib/tuning/state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 1024, GROUPS = 256 };

/* Communicators that are freed after fewer calls than this, or without kept calls, are forgotten:
 * there may be many of them. */
enum { WORTH_KEEPING = 8 };

_Atomic coll_report_state coll_report_is;

/* When this library was loaded: the two clocks at the same time. */
static uint64_t first_ticks, first_nanoseconds;

static MPI_Group world_group = MPI_GROUP_NULL;
static int comm_key = MPI_KEYVAL_INVALID;

/* Held while a communicator's record is found or made. A thread that holds LOCK, below, must not
 * take it. */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

/* Guards the variables from CLASSES to EVENT_COUNT. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static coll_report_class classes[CLASSES];
static int class_count, buckets[2 * CLASSES]; /* a hash table of indices in CLASSES, plus 1 */
static uint64_t lost, unlogged;
static coll_report_group groups[GROUPS];
static int group_count;
static coll_report_comm *comms;
static size_t event_count;

/*
 * This thread's current call: DEPTH is 1 if there is one, else 0; CURRENT is its class, if known.
 */
static _Thread_local int depth;
static _Thread_local coll_report_class *current;
static _Thread_local size_t current_bytes;
static _Thread_local bool current_served;

/* The communicators that this thread used last. All entries become invalid when any communicator is
 * freed. */
enum { RECENT = 8 };
static atomic_uint gone;
static _Thread_local struct {
    MPI_Comm comm;
    coll_report_comm *found;
    unsigned gone;
} recent[RECENT];

/* --- Time --- */

/* Reads both clocks at the same time. Tries again, up to 100 times in all, if that took more than 1
 * us, and keeps the fastest try: the thread may have been suspended between the readings. */
static void read_clocks(uint64_t *nanoseconds, uint64_t *ticks) {
    enum { TRIES = 100, ENOUGH = 1000 }; /* ns */
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES && least > ENOUGH; i++) {
        const uint64_t before = coll_nanoseconds(), at = coll_ticks(),
                       took = coll_nanoseconds() - before;
        if (took >= least)
            continue;
        least = took;
        *nanoseconds = before + took / 2;
        *ticks = at;
    }
}

__attribute__((constructor)) static void note_load(void) {
    read_clocks(&first_nanoseconds, &first_ticks);
}

double coll_report_tick(void) {
    uint64_t nanoseconds, ticks;
    read_clocks(&nanoseconds, &ticks);
    return (double)(nanoseconds - first_nanoseconds) / (double)(ticks - first_ticks);
}

int64_t coll_report_date(double tick, int64_t ticks) {
    return (int64_t)first_nanoseconds + (int64_t)(tick * (double)(ticks - (int64_t)first_ticks));
}

double coll_report_age(void) {
    return 1e-9 * (double)(coll_nanoseconds() - first_nanoseconds);
}

/* --- Communicators --- */

static int forget_comm(MPI_Comm comm, int key, void *value, void *extra) {
    coll_report_comm *one = value;
    (void)comm, (void)key, (void)extra;
    atomic_fetch_add(&gone, 1);
    pthread_mutex_lock(&lock);
    if (one->calls < WORTH_KEEPING || one->room == 0) {
        *one->link = one->next;
        if (one->next)
            one->next->link = one->link;
        event_count -= one->room;
        free(one->events);
        free(one);
    }
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

/* Returns the group of MEMBERS, or NULL if there are too many groups. Keeps or frees MEMBERS. */
static coll_report_group *find_group(int ranks, int *members) {
    const uint64_t hash = coll_hash(COLL_HASH_NOTHING, members, (size_t)ranks * sizeof *members);
    int i = 0;
    while (i < group_count && (groups[i].hash != hash || groups[i].ranks != ranks))
        i++;
    if (i < group_count || i == GROUPS) {
        free(members);
        return i < group_count ? &groups[i] : NULL;
    }
    group_count++;
    groups[i] = (coll_report_group){.hash = hash, .ranks = ranks, .members = members};
    return &groups[i];
}

int *coll_report_members(MPI_Comm comm, int *ranks) {
    MPI_Group group;
    if (PMPI_Comm_size(comm, ranks) != MPI_SUCCESS || PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return NULL;
    const size_t count = (size_t)*ranks;
    int *members = malloc(2 * count * sizeof *members), *own = members ? members + count : NULL;
    for (int i = 0; i < *ranks && own; i++)
        own[i] = i;
    bool good =
        own && PMPI_Group_translate_ranks(group, *ranks, own, world_group, members) == MPI_SUCCESS;
    for (int i = 0; i < *ranks && good; i++)
        good = members[i] != MPI_UNDEFINED;
    PMPI_Group_free(&group);
    if (good)
        return members;
    free(members);
    return NULL;
}

/* Makes the record of COMM. Returns NULL if calls on it are not recorded, or if memory is short.
 * ADDING is held. */
static coll_report_comm *add_comm(MPI_Comm comm) {
    int inter = 0, ranks;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return NULL;
    int *members = coll_report_members(comm, &ranks);
    coll_report_comm *one = calloc(1, sizeof *one);
    if (!members || !one) {
        free(members);
        free(one);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    one->group = find_group(ranks, members);
    one->next = comms;
    one->link = &comms;
    if (comms)
        comms->link = &one->next;
    comms = one;
    pthread_mutex_unlock(&lock);
    if (PMPI_Comm_set_attr(comm, comm_key, one) != MPI_SUCCESS)
        one->numbered = true; /* without an id, as it will not be found again */
    return one;
}

/* Returns the record of COMM, which is made if there is none; NULL if calls on COMM are not
 * recorded. */
static coll_report_comm *find_comm(MPI_Comm comm) {
    comm = coll_dcp_comm(comm);
    const uintptr_t handle = (uintptr_t)comm;
    const size_t at = (size_t)((handle >> 6 ^ handle) % RECENT);
    const unsigned now = atomic_load(&gone);
    coll_report_comm *found = NULL;
    int is_set = 0;
    if (recent[at].found && recent[at].comm == comm && recent[at].gone == now)
        return recent[at].found;
    if (comm == MPI_COMM_NULL)
        return NULL;
    pthread_mutex_lock(&adding);
    if (PMPI_Comm_get_attr(comm, comm_key, &found, &is_set) != MPI_SUCCESS)
        found = NULL;
    else if (!is_set)
        found = add_comm(comm);
    pthread_mutex_unlock(&adding);
    recent[at].comm = comm;
    recent[at].found = found;
    recent[at].gone = now;
    return found;
}

/* Gives ONE an id in its first collective, since communicators of the same ranks have their first
 * collectives in the same order on all ranks. The lock is held. */
static void number_comm(coll_report_comm *one) {
    one->numbered = true;
    if (!one->group || one->group->ranks == 1)
        return;
    one->group->comms++;
    one->id = coll_hash(one->group->hash, &one->group->comms, sizeof one->group->comms);
    if (coll_call_log_is_open())
        coll_call_log_comm(one->id, one->group->ranks, one->group->members);
}

/*
 * Doubles the room of ONE's events, if they and the events of all communicators stay within their
 * limits.
 */
static void enlarge_events(coll_report_comm *one) {
    enum { FIRST = 16 };
    const size_t room = one->room ? 2 * one->room : FIRST;
    if (room > COLL_REPORT_EVENTS || event_count + room - one->room > COLL_REPORT_ALL_EVENTS)
        return;
    coll_recorded_call *more = realloc(one->events, room * sizeof *more);
    if (!more)
        return;
    event_count += room - one->room;
    one->events = more;
    one->room = room;
}

static void add_event(coll_report_comm *one, const coll_recorded_call *event) {
    /* The ring grows only before it wraps for the first time. */
    if (one->id && one->calls == one->room)
        enlarge_events(one);
    if (one->room)
        one->events[one->calls & (one->room - 1)] = *event;
    one->calls++;
}

/* --- Classes of calls --- */

/* Returns the class with KEY's algorithm, group, operation, kind, size class and DCP, or NULL if
 * the table is full. KEY is copied if its class is new. The lock is held. */
static coll_report_class *find_class(const coll_report_class *key) {
    const uintptr_t mixed =
        (uintptr_t)key->algorithm ^ (uintptr_t)key->group >> 4 ^
        ((uintptr_t)key->operation << 8 | (uintptr_t)key->kind << 6 | (uintptr_t)key->size_class) *
            (uintptr_t)0x9e3779b1u;
    for (size_t try = 0; try < 2 * CLASSES; try++) {
        int *bucket = &buckets[(mixed / 16 + try) % (2 * CLASSES)];
        if (!*bucket && class_count == CLASSES)
            return NULL;
        if (!*bucket) {
            classes[class_count] = *key;
            *bucket = ++class_count;
        }
        coll_report_class *one = &classes[*bucket - 1];
        if (one->algorithm == key->algorithm && one->group == key->group &&
            one->operation == key->operation && one->kind == key->kind &&
            one->size_class == key->size_class && one->dcp == key->dcp)
            return one;
    }
    return NULL;
}

/* Copies STATE's topology and profile to GROUP. The lock is held. */
static void set_places(coll_report_group *group, const coll_state *state) {
    int *all = malloc((size_t)state->topo.ranks * sizeof *all);
    for (int i = 0; i < state->topo.ranks && all; i++)
        all[i] = i;
    if (all && state->common &&
        coll_topo_part(&state->topo, state->topo.ranks, all, &group->topo) == MPI_SUCCESS) {
        coll_job_cache_retain(state->common);
        group->common = state->common;
    }
    free(all);
}

coll_report_class *coll_report_ran(const coll_comm *comm, coll_report_kind kind,
                                   const coll_shape *shape, size_t bytes,
                                   const coll_choice *choice) {
    if (coll_report_is != COLL_REPORT_ON || depth == 0)
        return NULL;
    const coll_report_comm *own = find_comm(comm->user);
    if (shape->operation == COLL_OPERATION_BARRIER)
        bytes = 0; /* the shape of a barrier has one byte */
    pthread_mutex_lock(&lock);
    coll_report_group *group = own ? own->group : NULL;
    coll_report_class key = {.operation = shape->operation,
                             .kind = kind,
                             .size_class = coll_size_class(bytes),
                             .algorithm = choice->algorithm,
                             .group = group,
                             .values = choice->values,
                             .shape = *shape,
                             .why = choice->why};
    if (group && !group->common)
        set_places(group, coll_state_of(comm));
    key.shape.topo = group && group->common ? &group->topo : NULL;
    key.shape.profile =
        group && group->common ? &coll_job_cache_facts_of(group->common)->profile : NULL;
    key.shape.latencies = NULL;
    current = find_class(&key);
    current_bytes = bytes;
    pthread_mutex_unlock(&lock);
    return current;
}

void coll_report_served(void) {
    current_served = true;
}

void coll_report_completed(coll_report_class *class, double seconds) {
    if (!class || coll_report_is != COLL_REPORT_ON)
        return;
    pthread_mutex_lock(&lock);
    class->completed++;
    class->until += seconds;
    pthread_mutex_unlock(&lock);
}

/* --- Calls --- */

uint64_t coll_report_begin_call(void) {
    if (depth > 0)
        return 0;
    depth = 1;
    current = NULL;
    current_served = false;
    return coll_ticks();
}

void coll_report_end_wait(uint64_t began, coll_report_class *class) {
    const uint64_t now = coll_ticks();
    depth = 0;
    if (!class)
        return;
    pthread_mutex_lock(&lock);
    class->inside += now - began;
    pthread_mutex_unlock(&lock);
}

/* Returns whether CODE is the error of a call that ended before it sent any message. */
static bool is_wrong_argument(int code) {
    const int classes_of_arguments[] = {MPI_ERR_COMM, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE,
                                        MPI_ERR_OP,   MPI_ERR_ROOT,   MPI_ERR_ARG};
    const int class = coll_error_class(code);
    bool found = false;
    for (size_t i = 0; i < sizeof classes_of_arguments / sizeof *classes_of_arguments; i++)
        found = found || class == classes_of_arguments[i];
    return found;
}

/* Counts a call on ONE that has failed, so that the nth call remains the same on all ranks: on
 * other ranks the call may not have failed. */
static void count_failure(coll_report_comm *one, uint64_t began, uint64_t now) {
    pthread_mutex_lock(&lock);
    if (!one->numbered)
        number_comm(one);
    add_event(one, &(coll_recorded_call){.entered = (int64_t)began,
                                         .left = (int64_t)now,
                                         .root = COLL_NO_ROOT,
                                         .row = -1,
                                         .operation = COLL_RECORDED_FAILURE});
    pthread_mutex_unlock(&lock);
}

void coll_report_end(uint64_t began, int code, coll_operation operation, coll_report_kind kind,
                     const COLL_Report_amount *amount, MPI_Comm comm) {
    const uint64_t now = coll_ticks();
    coll_report_class *class = current;
    depth = 0;
    if (coll_report_is != COLL_REPORT_ON || (code != MPI_SUCCESS && is_wrong_argument(code)))
        return;
    coll_report_comm *own = find_comm(comm);
    if (code != MPI_SUCCESS) {
        if (own && kind == COLL_REPORT_BLOCKING)
            count_failure(own, began, now);
        return;
    }
    MPI_Count size = 0;
    /* Whether the recorded call has AMOUNT's bytes instead of those that libcoll counts. */
    const bool has_block = amount->uneven && operation != COLL_OPERATION_ALLTOALL &&
                           !coll_operations[operation].neighbors;
    /* AMOUNT is the sum of this many blocks, while libcoll counts the bytes of the mean block. */
    const size_t blocks =
        amount->uneven && operation == COLL_OPERATION_REDUCE_SCATTER && own && own->group
            ? (size_t)own->group->ranks
            : 1;
    const MPI_Count count = amount->count > 0 ? amount->count : 0;
    /* On an intercommunicator TYPE may not be significant. */
    if ((!class || has_block) && own && count > 0 &&
        (PMPI_Type_size_x(amount->type, &size) != MPI_SUCCESS || size < 0))
        size = 0;
    const size_t given = (size_t)count * (size_t)size,
                 bytes = class ? current_bytes : given / blocks + (given % blocks > 0),
                 part = has_block ? given : bytes;
    const int root = coll_operations[operation].rootless ? COLL_NO_ROOT : amount->root;
    pthread_mutex_lock(&lock);
    if (own && !own->numbered)
        number_comm(own);
    if (!class)
        class = find_class(&(coll_report_class){.operation = operation,
                                                .kind = kind,
                                                .size_class = coll_size_class(bytes),
                                                .dcp = current_served,
                                                .group = own ? own->group : NULL});
    if (class) {
        class->calls++;
        class->bytes += bytes;
        class->inside += now - began;
    } else {
        lost++;
    }
    const coll_recorded_call call = {.entered = (int64_t)began,
                                     .left = (int64_t)now,
                                     .bytes = part,
                                     .root = root,
                                     .row = (int16_t)(class ? class - classes : -1),
                                     .operation = (uint8_t)operation,
                                     .uneven = amount->uneven};
    if (own && kind == COLL_REPORT_BLOCKING)
        add_event(own, &call);
    const bool logged = own && operation != COLL_OPERATION_AGGREGATE && coll_call_log_is_open();
    if (logged && own->id)
        coll_call_log_call(own->id, kind != COLL_REPORT_BLOCKING, &call);
    else if (logged)
        unlogged += !own->group || own->group->ranks > 1;
    pthread_mutex_unlock(&lock);
}

void coll_report_sent(MPI_Count count, MPI_Datatype type, int to, MPI_Comm comm) {
    MPI_Count size = 0;
    if (!coll_call_log_is_open() || depth > 0 || to < 0 || count < 0 ||
        PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return;
    const coll_report_comm *own = find_comm(comm);
    pthread_mutex_lock(&lock);
    if (own && own->group && to < own->group->ranks && coll_call_log_is_open())
        coll_call_log_sent(own->group->members[to], (uint64_t)count * (uint64_t)size);
    pthread_mutex_unlock(&lock);
}

/* --- Begin and end --- */

int coll_report_begin_recording(MPI_Comm world) {
    int code = PMPI_Comm_group(world, &world_group);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_comm, &comm_key, NULL);
    coll_report_is = code == MPI_SUCCESS ? COLL_REPORT_ON : COLL_REPORT_OFF;
    return code;
}

/* Closes the call log, with this rank's place if libcoll has set up a communicator of all ranks.
 * The lock is held. */
static void close_log(void) {
    int all = 0, rank = 0;
    const coll_place *place = NULL;
    if (!coll_call_log_is_open())
        return;
    (void)PMPI_Group_size(world_group, &all);
    (void)PMPI_Group_rank(world_group, &rank);
    for (int i = 0; i < group_count; i++)
        for (int k = 0; k < all && groups[i].ranks == all && groups[i].common; k++)
            if (groups[i].members[k] == rank)
                place = &groups[i].topo.places[k];
    coll_call_log_close(place ? place->site : -1, place ? place->rack : -1, coll_report_tick(),
                        unlogged);
}

void coll_report_end_recording(void) {
    coll_report_is = COLL_REPORT_OFF;
    pthread_mutex_lock(&lock);
    close_log();
    pthread_mutex_unlock(&lock);
    if (comm_key != MPI_KEYVAL_INVALID)
        (void)PMPI_Comm_free_keyval(&comm_key);
    if (world_group != MPI_GROUP_NULL)
        (void)PMPI_Group_free(&world_group);
}

const coll_report_class *coll_report_classes(int *count) {
    *count = class_count;
    return classes;
}

const coll_report_comm *coll_report_comms(void) {
    return comms;
}

uint64_t coll_report_lost(void) {
    return lost;
}
