#include "config.h"

#include "lib/base/comm.h"

#include "coll_tools.h"
#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/base/spare.h"
#include "lib/base/substitute.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Room for operations: what the algorithms' usual windows take, there from the start, so that no
 * rank need be asked about it later; and what is kept in memory once more was needed. Pages that
 * nobody writes to take none.
 */
static const size_t LEAST_ROOM = (1 << 20) + (64 << 10), MOST_KEPT = 4 << 20;

/* Guards the two keys and the list of live states; states themselves belong to their users. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int state_key = MPI_KEYVAL_INVALID, finalize_key = MPI_KEYVAL_INVALID;
static coll_comm *live_states;
static MPI_Comm alone = MPI_COMM_NULL;

/* The state that a thread asked for last; it holds while no state has gone since. */
static atomic_uint gone;
static _Thread_local struct {
    MPI_Comm comm;
    coll_comm *state;
    unsigned gone;
} recent = {.state = NULL};

/* What comes first in an allocation is aligned, and so is all that follows. */
static size_t slot_bytes(const coll_comm_key *key, int ranks) {
    return coll_comm_room_of(key->bytes + (size_t)ranks * key->bytes_per_rank);
}

/* A block of memory for all slots, which begins with where they are; NULL: there is none. */
static void **make_slots(int ranks) {
    size_t count = 0, bytes = 0;
    for (; coll_comm_keys[count]; count++)
        bytes += slot_bytes(coll_comm_keys[count], ranks);
    size_t list = coll_comm_room_of(count * sizeof(void *));
    void **slots = calloc(1, list + bytes);
    char *next = (char *)slots + list;
    for (size_t i = 0; i < count && slots; i++) {
        slots[i] = next;
        next += slot_bytes(coll_comm_keys[i], ranks);
    }
    return slots;
}

/* Those that were opened last may need the others. */
static void close_slots(coll_comm *state) {
    int count = 0;
    while (coll_comm_keys[count])
        count++;
    while (count-- > 0 && state->slots)
        if (coll_comm_keys[count]->close)
            coll_comm_keys[count]->close(state->slots[count]);
}

/*
 * Takes the messages that nobody waits for any more: to free a communicator that has some is an
 * error for MPICH, which ends the program.
 */
static void drain(MPI_Comm comm) {
    MPI_Status status;
    int there = 1;
    while (PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, &status) == MPI_SUCCESS &&
           there) {
        /* To be cut is an error, which ends here. */
        (void)PMPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm,
                        MPI_STATUS_IGNORE);
    }
}

static void free_state(coll_comm *state) {
    close_slots(state);
    if (state->private != MPI_COMM_NULL)
        drain(state->private);
    if (state->broken) { /* messages may still be under way on the communicator and into these */
        coll_wait_leave(state->room);
        coll_wait_leave(state->slots);
        coll_wait_leave(state);
        return;
    }
    if (state->private != MPI_COMM_NULL)
        PMPI_Comm_free(&state->private);
    free(state->slots);
    free(state->room);
    coll_spare_free(state);
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

static bool finalizing;

bool coll_comm_finalizing(void) {
    return finalizing;
}

/*
 * MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while MPI still works: the states of
 * communicators that nobody freed, MPI_COMM_WORLD's among them, are freed here.
 */
static int delete_all(MPI_Comm self, int key, void *value, void *extra) {
    (void)self, (void)key, (void)value, (void)extra;
    int code = MPI_SUCCESS;
    finalizing = true;
    while (live_states && code == MPI_SUCCESS)
        code = PMPI_Comm_delete_attr(live_states->user, state_key);
    if (alone != MPI_COMM_NULL)
        PMPI_Comm_free(&alone);
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
    return code;
}

/* Errors on it are returned, to the library alone. */
static int name_private(MPI_Comm comm) {
    int code = PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return code == MPI_SUCCESS ? PMPI_Comm_set_name(comm, COLL_PRIVATE_NAME) : code;
}

/* The communicator of this process, if it isn't there yet. */
static int make_alone(void) {
    int code = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    if (alone == MPI_COMM_NULL) {
        code = make_private(MPI_COMM_SELF, &alone);
        if (code == MPI_SUCCESS)
            code = name_private(alone);
    }
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

/* What every communicator needs from the start; false where this rank hasn't got it. */
static bool make_memory(coll_comm *state) {
    state->slots = make_slots(state->ranks);
    state->room = malloc(LEAST_ROOM);
    state->room_bytes = LEAST_ROOM;
    return make_alone() == MPI_SUCCESS && state->slots && state->room;
}

/* Opens the slots of STATE, which is a part of WHOLE unless that is NULL. */
static int open_slots(coll_comm *state, const coll_comm *whole) {
    int code = name_private(state->private);
    for (int i = 0; code == MPI_SUCCESS && coll_comm_keys[i]; i++)
        if (coll_comm_keys[i]->open)
            code = coll_comm_keys[i]->open(state, whole);
    return code;
}

/* None goes on to what waits in the MPI library, without a time-out, before all are here. */
static int meet(coll_comm *state) {
    int code = MPI_SUCCESS;
    bool ready = make_memory(state);
    for (int i = 0; code == MPI_SUCCESS && coll_comm_keys[i]; i++)
        if (coll_comm_keys[i]->meet)
            code = coll_comm_keys[i]->meet(state, ready);
    return code;
}

static int make_state(MPI_Comm comm, coll_comm **made) {
    coll_comm *state = coll_spare_calloc(1, sizeof *state);
    if (!state)
        return coll_error(MPI_ERR_NO_MEM, "not even %zu bytes left", sizeof *state);
    state->user = comm;
    state->private = MPI_COMM_NULL;
    int code = PMPI_Comm_rank(comm, &state->rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(comm, &state->ranks);
    if (code == MPI_SUCCESS)
        code = meet(state);
    if (code == MPI_SUCCESS)
        code = make_private(comm, &state->private);
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
    *made = state;
    return MPI_SUCCESS;
}

/* The private communicator of PART is there. */
static int fill_part(coll_comm *part, const coll_comm *whole) {
    int code = PMPI_Comm_rank(part->private, &part->rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(part->private, &part->ranks);
    if (code != MPI_SUCCESS)
        return code;
    code = coll_agree(
        part, make_memory(part)
                  ? MPI_SUCCESS
                  : coll_error(MPI_ERR_NO_MEM, "no memory for the state of %d ranks", part->ranks));
    return code == MPI_SUCCESS ? open_slots(part, whole) : code;
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
    made->wait = whole->wait;
    code = PMPI_Comm_split(whole->private, color, whole->rank, &made->private);
    if (code == MPI_SUCCESS)
        code = fill_part(made, whole);
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

coll_dcp_substitute coll_dcp_substituted = {MPI_COMM_NULL, MPI_COMM_NULL, NULL};

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
    remember(comm, *state);
    return (*state)->broken;
}

/* Makes the room as large as that, on all ranks or on none. */
static int grow_room(coll_comm *comm, size_t bytes) {
    void *made = malloc(bytes);
    int code =
        coll_agree(comm, made ? MPI_SUCCESS
                              : coll_error(MPI_ERR_NO_MEM,
                                           "no memory for %zu bytes that are under way", bytes));
    if (code != MPI_SUCCESS) {
        free(made);
        return code;
    }
    free(comm->room);
    comm->room = made;
    comm->room_bytes = bytes;
    return MPI_SUCCESS;
}

int coll_comm_room(coll_comm *comm, size_t bytes, void **memory) {
    int code = MPI_SUCCESS;
    if (bytes > comm->room_bytes)
        code = grow_room(comm, bytes < MOST_KEPT ? MOST_KEPT : bytes);
    if (code != MPI_SUCCESS)
        return code;
    comm->room_used = bytes > comm->room_used ? bytes : comm->room_used;
    *memory = comm->room;
    return MPI_SUCCESS;
}

/* The room stays as large, so that no rank is asked again at the next such operation. */
void coll_comm_leave_room(coll_comm *comm) {
    if (comm->room_used <= MOST_KEPT || comm->broken)
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), room = (uintptr_t)comm->room,
                    from = (room + MOST_KEPT + page - 1) / page * page,
                    end = (room + comm->room_used) / page * page;
    if (from < end)
        (void)madvise((void *)from, end - from, MADV_DONTNEED);
    comm->room_used = 0;
}
