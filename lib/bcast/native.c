/*
 * native: the MPI library's own broadcast.
 *
 * The data goes as bytes, in place where it is contiguous, because MPI libraries split segments by
 * elements and go wrong when root and others describe the same bytes by different types (Open MPI
 * issues 1763 and 10523). Data that isn't contiguous passes in segments, so that its packed copy
 * stays bounded.
 *
 * Cost: that of what stands in for it, lib/operation/stand_in.h.
 */
#include "config.h"

#include "lib/bcast/bcast.h"

/*
 * Below this only latency counts, and the MPI library's trees are the fastest. At twice this size
 * they already take twice as long as the best algorithm.
 */
enum { BEST_BELOW = 2 << 10 };

/* The blocking one can't be left when a rank never comes, nor does it sleep. */
static int broadcast(const coll_planned *call, void *bytes, int length) {
    coll_comm *comm = call->comm;
    int root = call->part.shape->root;
    if (coll_wait_as_mpi(&comm->wait))
        return PMPI_Bcast(bytes, length, MPI_BYTE, root, comm->private);
    MPI_Request request;
    int code = PMPI_Ibcast(bytes, length, MPI_BYTE, root, comm->private, &request);
    return code == MPI_SUCCESS ? coll_wait_native(&comm->wait, &request, "MPI_Bcast") : code;
}

static int run(const coll_planned *call) {
    const coll_data *data = call->data;
    size_t most = data->bytes < COLL_NATIVE_MOST ? data->bytes : COLL_NATIVE_MOST;
    void *segment;
    int code = coll_comm_room(call->comm, most, &segment);
    bool is_root = call->comm->rank == call->part.shape->root;
    for (size_t from = 0; from < data->bytes && code == MPI_SUCCESS; from += most) {
        size_t length = data->bytes - from < most ? data->bytes - from : most;
        void *bytes = is_root ? coll_data_read(data, from, length, segment)
                              : coll_data_target(data, from, segment);
        code = broadcast(call, bytes, (int)length);
        if (code == MPI_SUCCESS && !is_root)
            coll_data_store(data, from, length, segment);
    }
    return code;
}

const coll_algorithm coll_bcast_native = {
    .name = "native",
    .summary = "the MPI library's own broadcast",
    .best_below = BEST_BELOW,
    .run = run,
};
