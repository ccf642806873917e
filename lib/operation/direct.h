/*
 * The direct way to the MPI library's own collective, for small calls that end there anyway: to
 * describe the data, choose and trace would take longer than the collective itself. It sends the
 * same messages as the usual way, so that one rank may take it and another not.
 */
#ifndef COLL_LIB_OPERATION_DIRECT_H
#define COLL_LIB_OPERATION_DIRECT_H

#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/operation/state.h"

#include <mpi.h>

/*
 * Describes this rank's data, of a committed type: the MPI library alone knows whether it is.
 * Remembers TYPE where it is one that calls can go directly with.
 */
int coll_direct_data(const coll_comm *comm, coll_data *data, const void *buffer, MPI_Count count,
                     MPI_Datatype type);

/*
 * The state of COMM where a call of OPERATION on COUNT elements of TYPE, from or to ROOT, can go
 * directly to the MPI library: as *BYTES bytes on the private communicator. NULL where it needs the
 * usual way. The arguments need not have been checked.
 *
 * What goes this way needs no more room than the communicator has (coll_comm_room), which is the
 * same on all ranks: one that goes the usual way, since it knows less of its call, then sends the
 * same messages. Nothing is sent where there is nothing, as by the usual way.
 */
static inline const coll_comm *coll_direct(coll_operation operation, MPI_Comm comm, MPI_Count count,
                                           MPI_Datatype type, int root, int *bytes) {
    const coll_comm *own = coll_comm_recent(comm);
    if (!own || own->wait.timeout > 0)
        return NULL;
    const coll_state *state = coll_state_of(own);
    const coll_operation_info *info = &coll_operations[operation];
    MPI_Count size;
    if (type != state->plain_type || __builtin_mul_overflow(count, state->plain_bytes, &size) ||
        size <= 0 || size > info->direct_up_to)
        return NULL;
    size_t room = (size_t)size * (info->blocks ? (size_t)own->ranks : 1);
    if (room > own->room_bytes || !coll_state_native(state, operation, (size_t)size, root))
        return NULL;
    *bytes = (int)size;
    return own;
}

#endif
