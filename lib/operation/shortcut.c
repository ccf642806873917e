#include "config.h"

#include "lib/operation/shortcut.h"

#include "lib/base/error.h"
#include "lib/operation/state.h"

#include <limits.h>

/*
 * Blocks of gather's usual way go in one piece up to this, whatever the number of ranks. What goes
 * this way needs no more room than the communicator has (coll_comm_room), which is the same on all
 * ranks: one that goes the usual way, since it knows less of its call, then sends the same
 * messages.
 */
enum { GATHERED_MOST = 4 << 10 };

static bool has_room(const coll_comm *comm, size_t bytes) {
    return bytes <= comm->room_bytes && comm->wait.timeout == 0;
}

void coll_shortcut_learn(const coll_comm *comm, MPI_Datatype type, const coll_data *data) {
    coll_state *state = coll_state_of(comm);
    if (!data->plain_bytes)
        return;
    state->plain_type = type;
    state->plain_bytes = data->plain_bytes;
}

/* The bytes of COUNT elements, if TYPE is the remembered one and they are at most MOST; else -1. */
static int bytes_of(const coll_state *state, MPI_Count count, MPI_Datatype type, int most) {
    if (!state->plain_bytes || type != state->plain_type || count < 0 ||
        count > most / state->plain_bytes)
        return -1;
    return (int)(count * state->plain_bytes);
}

/* Whether the last call of this size class was this one, and native was chosen. */
static bool native_again(const coll_state *state, size_t bytes, int root) {
    const coll_decision *last = coll_state_decision(state, COLL_OPERATION_BCAST, bytes);
    return last->choice.algorithm == coll_bcast_table[0] && last->bytes == bytes &&
           last->root == root && state->topo.sites == 1 && !state->trace;
}

/* Nothing is sent where there is nothing, as by the usual way. */
bool coll_shortcut_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                         int *code) {
    const coll_comm *own = coll_comm_recent(comm);
    const coll_state *state = own ? coll_state_of(own) : NULL;
    int bytes = state ? bytes_of(state, count, type, INT_MAX) : -1;
    if (bytes <= 0 || !has_room(own, (size_t)bytes) ||
        (!state->stands_back[COLL_OPERATION_BCAST] && !native_again(state, (size_t)bytes, root)))
        return false;
    *code = PMPI_Bcast(buffer, bytes, MPI_BYTE, root, own->private);
    if (*code != MPI_SUCCESS)
        coll_raise(comm, *code);
    return true;
}

bool coll_shortcut_gather(const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                          void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                          int root, MPI_Comm comm, int *code) {
    const coll_comm *own = coll_comm_recent(comm);
    const coll_state *state = own ? coll_state_of(own) : NULL;
    if (!state || !state->stands_back[COLL_OPERATION_GATHER] || send_buffer == MPI_IN_PLACE)
        return false;
    bool is_root = own->rank == root;
    int bytes = bytes_of(state, send_count, send_type, GATHERED_MOST);
    if (bytes <= 0 || !has_room(own, (size_t)bytes * (size_t)own->ranks) ||
        (is_root && bytes_of(state, receive_count, receive_type, GATHERED_MOST) != bytes))
        return false;
    *code = PMPI_Gather(send_buffer, bytes, MPI_BYTE, receive_buffer, is_root ? bytes : 0, MPI_BYTE,
                        root, own->private);
    if (*code != MPI_SUCCESS)
        coll_raise(comm, *code);
    return true;
}
