/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/comm.h"

#include "lib/base/agree.h"
#include "lib/base/dcp_hooks.h"
#include "lib/base/error.h"
#include "lib/base/members.h"
#include "lib/base/reserve_alloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Scratch memory of an operation. LEAST_SCRATCH covers the default windows of the algorithms; every
 * communicator may use it without an agreement. If an operation needs more, the memory becomes at
 * least MOST_KEPT bytes large and stays allocated; between operations only the pages of its first
 * MOST_KEPT bytes stay in memory. Pages that nobody writes to take no memory.
 */
static const size_t LEAST_SCRATCH = (1 << 20) + (64 << 10), MOST_KEPT = 4 << 20;

/*
 * Scratch buffers that no operation uses now, of LEAST_SCRATCH bytes each; at most
 * MOST_SPARE_SCRATCH are kept. An operation takes a buffer and gives it back, so there are as many
 * buffers as concurrent operations, not as many as communicators.
 */
enum { MOST_SPARE_SCRATCH = 8 };
static pthread_mutex_t scratch_lock = PTHREAD_MUTEX_INITIALIZER;
static void *spare_scratch[MOST_SPARE_SCRATCH];
static int spare_scratch_count;

/*
 * Guards the two keys, the list of live states and ALONE. A state itself has no lock, since MPI
 * forbids concurrent collectives on one communicator.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int state_key = MPI_KEYVAL_INVALID, finalize_key = MPI_KEYVAL_INVALID;
static coll_comm *live_states;
static MPI_Comm alone = MPI_COMM_NULL;

/* The state that this thread used last; valid until any state is freed. */
static atomic_uint gone;
static _Thread_local struct {
    MPI_Comm comm;
    coll_comm *state;
    unsigned gone;
} recent = {.state = NULL};

static void *take_scratch(void) {
    void *scratch = NULL;
    pthread_mutex_lock(&scratch_lock);
    if (spare_scratch_count > 0)
        scratch = spare_scratch[--spare_scratch_count];
    pthread_mutex_unlock(&scratch_lock);
    return scratch ? scratch : malloc(LEAST_SCRATCH);
}

static void give_scratch(void *scratch) {
    pthread_mutex_lock(&scratch_lock);
    if (scratch && spare_scratch_count < MOST_SPARE_SCRATCH) {
        spare_scratch[spare_scratch_count++] = scratch;
        scratch = NULL;
    }
    pthread_mutex_unlock(&scratch_lock);
    free(scratch);
}

/* Returns the bytes of a slot, rounded up so that all slots in an allocation are aligned. */
static size_t slot_bytes(const coll_comm_key *key, int ranks) {
    return coll_scratch_bytes(key->bytes + (size_t)ranks * key->bytes_per_rank);
}

/*
 * Allocates all slots in one block, which begins with the array of pointers to them. Returns NULL
 * if out of memory.
 */
static void **make_slots(int ranks) {
    size_t count = 0, bytes = 0;
    for (; coll_comm_keys[count]; count++)
        bytes += slot_bytes(coll_comm_keys[count], ranks);
    size_t list = coll_scratch_bytes(count * sizeof(void *));
    void **slots = calloc(1, list + bytes);
    char *next = (char *)slots + list;
    for (size_t i = 0; i < count && slots; i++) {
        slots[i] = next;
        next += slot_bytes(coll_comm_keys[i], ranks);
    }
    return slots;
}

/* Closes the slots in reverse order: a slot may depend on the slots opened before it. */
static void close_slots(coll_comm *state) {
    int count = 0;
    while (coll_comm_keys[count])
        count++;
    while (count-- > 0 && state->slots)
        if (coll_comm_keys[count]->close)
            coll_comm_keys[count]->close(state->slots[count]);
}

/*
 * Receives messages that nobody waits for any more: MPICH treats freeing a communicator with
 * unreceived messages as a fatal error.
 */
static void receive_leftovers(MPI_Comm comm) {
    MPI_Status status;
    int there = 1;
    while (PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &status) == MPI_SUCCESS &&
           there) {
        /* truncation is the expected error; ignore it */
        (void)PMPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm,
                        MPI_STATUS_IGNORE);
    }
}

/* Returns whether STATE's private communicator is a duplicate of the user's. */
static bool has_duplicate(const coll_comm *state) {
    return state->private != MPI_COMM_NULL && !state->transport && !state->members;
}

/* Makes STATE's scratch memory available to other communicators, or frees the memory if it has more
 * than the usual size. */
static void return_scratch(coll_comm *state) {
    if (state->scratch_bytes == LEAST_SCRATCH)
        give_scratch(state->scratch);
    else
        free(state->scratch);
    state->scratch = NULL;
}

/* Frees all that STATE holds, but not STATE itself. */
static void free_contents(coll_comm *state) {
    close_slots(state);
    if (has_duplicate(state))
        receive_leftovers(state->private);
    if (state->broken) { /* messages may still arrive in this memory */
        coll_wait_leave(state->scratch);
        coll_wait_leave(state->slots);
        return;
    }
    if (has_duplicate(state))
        PMPI_Comm_free(&state->private);
    return_scratch(state);
    free(state->slots);
    free(state->members);
}

static void free_memory(coll_attribute *attribute) {
    coll_comm *state = (coll_comm *)attribute;
    if (state->broken)
        coll_wait_leave(state);
    else
        coll_reserve_free(state);
}

static void free_state(coll_comm *state) {
    free_contents(state);
    free_memory(&state->attribute);
}

static int end_state(coll_attribute *attribute) {
    coll_comm *state = (coll_comm *)attribute;
    pthread_mutex_lock(&lock);
    *state->link_live = state->next_live;
    if (state->next_live)
        state->next_live->link_live = state->link_live;
    pthread_mutex_unlock(&lock);
    free_contents(state);
    return MPI_SUCCESS;
}

static int delete_state(MPI_Comm comm, int key, void *value, void *extra) {
    atomic_fetch_add(&gone, 1);
    return coll_attribute_delete(comm, key, value, extra);
}

coll_attribute *coll_comm_attribute(MPI_Comm comm) {
    coll_comm *state = comm == MPI_COMM_NULL ? NULL : coll_comm_find(comm);
    return state && has_duplicate(state) ? &state->attribute : NULL;
}

static bool finalizing;

bool coll_comm_finalizing(void) {
    return finalizing;
}

/*
 * MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while MPI still works. This frees the
 * states of all communicators that the program has not freed, such as MPI_COMM_WORLD.
 */
static int delete_all(MPI_Comm self, int key, void *value, void *extra) {
    (void)self, (void)key, (void)value, (void)extra;
    int code = MPI_SUCCESS;
    finalizing = true;
    while (live_states && code == MPI_SUCCESS)
        code = PMPI_Comm_delete_attr(live_states->user, state_key);
    if (alone != MPI_COMM_NULL)
        PMPI_Comm_free(&alone);
    while (spare_scratch_count > 0)
        free(spare_scratch[--spare_scratch_count]);
    return code;
}

/*
 * Creates a communicator with the same ranks, whose errors are returned to the library.
 * MPI_Comm_dup would call the copy functions of the user's attributes without the user's knowledge.
 */
static int make_private(MPI_Comm comm, MPI_Comm *private) {
    MPI_Group group;
    int code = PMPI_Comm_group(comm, &group);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Comm_create(comm, group, private);
    PMPI_Group_free(&group);
    return code == MPI_SUCCESS ? PMPI_Comm_set_errhandler(*private, MPI_ERRORS_RETURN) : code;
}

int coll_comm_duplicate(coll_comm *state) {
    return make_private(state->user, &state->private);
}

/* Creates the communicator of this process alone, if it does not exist yet. */
static int make_alone(void) {
    int code = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    if (alone == MPI_COMM_NULL)
        code = make_private(MPI_COMM_SELF, &alone);
    pthread_mutex_unlock(&lock);
    return code;
}

MPI_Comm coll_comm_alone(void) {
    return alone;
}

static int make_keys(void) {
    int code = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    for (int i = 0; state_key == MPI_KEYVAL_INVALID && coll_comm_keys[i]; i++)
        coll_comm_keys[i]->number = i;
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

/* Allocates what every communicator needs; returns false if out of memory. */
static bool make_memory(coll_comm *state) {
    state->slots = make_slots(state->ranks);
    state->scratch = take_scratch();
    state->scratch_bytes = LEAST_SCRATCH;
    return make_alone() == MPI_SUCCESS && state->slots && state->scratch;
}

/* Opens the slots of STATE, which is a part of WHOLE or, if WHOLE is NULL, not a part. */
static int open_slots(coll_comm *state, const coll_comm *whole) {
    int code = MPI_SUCCESS;
    for (int i = 0; code == MPI_SUCCESS && coll_comm_keys[i]; i++)
        if (coll_comm_keys[i]->open)
            code = coll_comm_keys[i]->open(state, whole);
    return code;
}

/*
 * Allocates the state's memory and calls set_up of each slot. Unless set_up is local, it waits for
 * all ranks, with a timeout; later calls of the MPI library wait without one.
 */
static int wait_for_all_ranks(coll_comm *state) {
    int code = MPI_SUCCESS;
    bool ready = make_memory(state);
    for (int i = 0; code == MPI_SUCCESS && coll_comm_keys[i]; i++)
        if (coll_comm_keys[i]->set_up)
            code = coll_comm_keys[i]->set_up(state, ready);
    return code;
}

static int make_state(MPI_Comm comm, coll_comm **made) {
    coll_comm *state = coll_reserve_calloc(1, sizeof *state);
    if (!state)
        return coll_error(MPI_ERR_NO_MEM, "not even %zu bytes left", sizeof *state);
    state->attribute = (coll_attribute){.end = end_state, .destroy = free_memory, .holders = 1};
    state->user = comm;
    state->private = MPI_COMM_NULL;
    int code = PMPI_Comm_rank(comm, &state->rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(comm, &state->ranks);
    if (code == MPI_SUCCESS)
        code = wait_for_all_ranks(state);
    if (code == MPI_SUCCESS)
        code = open_slots(state, NULL);
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
    coll_comm_release_scratch(state);
    *made = state;
    return MPI_SUCCESS;
}

static coll_comm *make_part(const coll_comm *whole, int count, const int members[]) {
    coll_comm *part = coll_reserve_calloc(1, sizeof *part);
    int *copy = malloc((size_t)count * sizeof *copy);
    if (!part || !copy) {
        coll_reserve_free(part);
        free(copy);
        return NULL;
    }
    memcpy(copy, members, (size_t)count * sizeof *copy);
    *part = (coll_comm){.user = MPI_COMM_NULL,
                        .private = whole->private,
                        .transport = whole->transport,
                        .ranks = count,
                        .members = copy,
                        .wait = whole->wait};
    while (part->rank < count && members[part->rank] != whole->rank)
        part->rank++;
    if (make_memory(part))
        return part;
    free_state(part);
    return NULL;
}

int coll_comm_part(coll_comm *whole, int count, const int members[], coll_comm **part) {
    coll_comm *made = make_part(whole, count, members);
    int code = coll_agree(
        whole, made ? MPI_SUCCESS
                    : coll_error(MPI_ERR_NO_MEM, "no memory for the state of %d ranks", count));
    if (code == MPI_SUCCESS)
        code = coll_agree(whole, open_slots(made, whole));
    if (code == MPI_SUCCESS)
        *part = made;
    else if (made)
        free_state(made);
    return code;
}

void coll_comm_free_part(coll_comm *part) {
    if (part)
        free_state(part);
}

coll_dcp_substitute coll_dcp_substituted = {MPI_COMM_NULL, MPI_COMM_NULL, NULL};

coll_comm *coll_comm_recent(MPI_Comm comm) {
    comm = coll_dcp_comm(comm);
    bool valid = recent.state && recent.comm == comm && recent.gone == atomic_load(&gone);
    return valid && recent.state->broken == MPI_SUCCESS ? recent.state : NULL;
}

coll_comm *coll_comm_find(MPI_Comm comm) {
    coll_comm *state = NULL;
    int found = 0;
    comm = coll_dcp_comm(comm);
    bool known = make_keys() == MPI_SUCCESS &&
                 PMPI_Comm_get_attr(comm, state_key, &state, &found) == MPI_SUCCESS && found;
    return known ? state : NULL;
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
    recent.comm = comm;
    recent.state = *state;
    recent.gone = atomic_load(&gone);
    return (*state)->broken;
}

int coll_comm_open(MPI_Comm comm, coll_comm **own) {
    int inter = 0;
    *own = NULL;
    if (comm == MPI_COMM_NULL)
        return coll_raise(comm, coll_error(MPI_ERR_COMM, "null communicator"));
    int code = PMPI_Comm_test_inter(comm, &inter);
    if (code != MPI_SUCCESS || inter)
        return code;
    return coll_raise(comm, coll_comm_get(comm, own));
}

int coll_comm_open_intra(MPI_Comm comm, const char *name, coll_comm **own) {
    int code = coll_comm_open(comm, own);
    if (code != MPI_SUCCESS || *own)
        return code;
    return coll_raise(comm, coll_error(MPI_ERR_COMM,
                                       "%s: intercommunicators are not supported; merge them with "
                                       "MPI_Intercomm_merge",
                                       name));
}

int coll_comm_forget(MPI_Comm comm) {
    return coll_comm_find(comm) ? PMPI_Comm_delete_attr(coll_dcp_comm(comm), state_key)
                                : MPI_SUCCESS;
}

/* Enlarges the scratch memory to BYTES on all ranks, or on none if one has no memory. */
static int grow_scratch(coll_comm *comm, size_t bytes) {
    void *made = malloc(bytes);
    int code =
        coll_agree(comm, made ? MPI_SUCCESS
                              : coll_error(MPI_ERR_NO_MEM,
                                           "no memory for %zu bytes of messages in flight", bytes));
    if (code != MPI_SUCCESS) {
        free(made);
        return code;
    }
    return_scratch(comm);
    comm->scratch = made;
    comm->scratch_bytes = bytes;
    return MPI_SUCCESS;
}

int coll_comm_scratch(coll_comm *comm, size_t bytes, void **memory) {
    int code = MPI_SUCCESS;
    if (bytes > comm->scratch_bytes)
        code = grow_scratch(comm, bytes < MOST_KEPT ? MOST_KEPT : bytes);
    else if (!comm->scratch && !(comm->scratch = take_scratch()))
        code = coll_error(MPI_ERR_NO_MEM, "no memory for %zu bytes of messages in flight",
                          LEAST_SCRATCH);
    if (code != MPI_SUCCESS)
        return code;
    comm->scratch_used = bytes > comm->scratch_used ? bytes : comm->scratch_used;
    *memory = comm->scratch;
    return MPI_SUCCESS;
}

/*
 * Scratch memory of more than LEAST_SCRATCH keeps its size, so that the next operation of that size
 * needs no agreement.
 */
void coll_comm_release_scratch(coll_comm *comm) {
    if (comm->broken)
        return;
    if (comm->scratch_bytes == LEAST_SCRATCH) {
        return_scratch(comm);
        return;
    }
    if (comm->scratch_used <= MOST_KEPT)
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), scratch = (uintptr_t)comm->scratch,
                    from = (scratch + MOST_KEPT + page - 1) / page * page,
                    end = (scratch + comm->scratch_used) / page * page;
    if (from < end)
        (void)madvise((void *)from, end - from, MADV_DONTNEED);
    comm->scratch_used = 0;
}

int coll_comm_publish(coll_comm *comm, void *data, size_t bytes) {
    enum { LONGER = 10 };
    coll_wait wait = comm->wait;
    coll_members all = coll_members_all(comm, COLL_TAG_COLLECTIVE);
    wait.longest_sleep = 1e-3;
    wait.timeout *= LONGER;
    all.wait = &wait;
    int code = coll_members_bcast(&all, data, bytes);
    return code == MPI_SUCCESS ? code : (comm->broken = code);
}
