/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * native: the MPI library's own broadcast.
 *
 * The data is passed as bytes, in place if it is contiguous, because MPI libraries that split
 * segments by elements fail when the root and the others describe the same bytes with different
 * types (Open MPI issues 1763 and 10523). Other data is passed in segments, so that its packed copy
 * stays bounded.
 *
 * Cost: that of the algorithm in lib/tuning/ompi_decision_table.h that represents the MPI
 * library's.
 */
#include "config.h"

#include "lib/bcast/bcast.h"

/*
 * Bytes below which, on a network of short latency, processors decide the time, and the MPI
 * library's trees are the fastest. At twice this size they already take twice as long as the best
 * algorithm.
 */
enum { BEST_BELOW = 2 << 10 };

/* Calls the MPI library's broadcast: the nonblocking one if the wait needs a timeout or sleeps. */
static int call_bcast(const coll_exec_args *call, void *bytes, int length) {
    coll_comm *comm = call->comm;
    int root = call->args.shape->root;
    if (coll_wait_as_mpi(&comm->wait))
        return PMPI_Bcast(bytes, length, MPI_BYTE, root, comm->private);
    MPI_Request request;
    int code = PMPI_Ibcast(bytes, length, MPI_BYTE, root, comm->private, &request);
    return code == MPI_SUCCESS ? coll_wait_native(&comm->wait, &request, "MPI_Bcast") : code;
}

static int run_native(const coll_exec_args *call) {
    const coll_data *data = call->data;
    size_t most = data->bytes < COLL_NATIVE_MOST ? data->bytes : COLL_NATIVE_MOST;
    void *segment;
    int code = coll_comm_scratch(call->comm, most, &segment);
    bool is_root = call->comm->rank == call->args.shape->root;
    for (size_t from = 0; from < data->bytes && code == MPI_SUCCESS; from += most) {
        size_t length = data->bytes - from < most ? data->bytes - from : most;
        void *bytes = is_root ? coll_data_read(data, from, length, segment)
                              : coll_data_target(data, from, segment);
        code = call_bcast(call, bytes, (int)length);
        if (code == MPI_SUCCESS && !is_root)
            coll_data_store(data, from, length, segment);
    }
    return code;
}

const coll_algorithm coll_bcast_native = {
    .name = "native",
    .summary = "the MPI library's own broadcast",
    .native = true,
    .best_below = BEST_BELOW,
    .run = run_native,
};
