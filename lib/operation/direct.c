#include "config.h"

#include "lib/operation/direct.h"

int coll_direct_data(const coll_comm *comm, coll_data *data, const void *buffer, MPI_Count count,
                     MPI_Datatype type) {
    coll_state *state = coll_state_of(comm);
    int code = coll_data_open(data, (void *)buffer, count, type);
    if (code == MPI_SUCCESS && !data->plain_bytes) {
        char nothing = 0; /* is sent: but MPICH looks at the type of something alone */
        return PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, comm->private);
    }
    if (code == MPI_SUCCESS) {
        state->plain_type = type;
        state->plain_bytes = data->plain_bytes;
    }
    return code;
}
