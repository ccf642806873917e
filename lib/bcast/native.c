/*
 * native: the MPI library's own broadcast.
 *
 * The data goes as bytes, in place where it is contiguous, because MPI libraries split segments by
 * elements and go wrong when root and others describe the same bytes by different types (Open MPI
 * issues 1763 and 10523). Data that isn't contiguous passes in pieces, so that its packed copy
 * stays bounded.
 *
 * Cost: that of a binomial tree, the common choice of MPI libraries,
 *     ceil(log2 p) (latency + overhead + m B),
 * and from 2 KB on twice that: Open MPI's defaults know nothing of racks, and were measured to take
 * 2 to 3 times as long as a binomial tree in rack order (25 hosts, 4 KB to 64 KB).
 */
#include "config.h"

#include "lib/bcast/bcast.h"
#include "lib/error.h"
#include "lib/pattern/tree.h"

#include <stdlib.h>

/* One call's limit; at the same time what a packed copy may take. */
static const size_t piece = (size_t)256 << 20;

static const coll_param params[] = {{.name = NULL}};

static double predict(const coll_shape *call, const coll_profile *profile,
                      const coll_values *values) {
    (void)values;
    const coll_cost *link = coll_profile_outermost(profile, call->topo);
    double binomial = coll_tree_depth(call->topo->ranks) *
                      (link->latency + link->overhead + (double)call->bytes * link->per_byte);
    return call->bytes > 2048 ? 2 * binomial : binomial;
}

static int run(const coll_bcast_call *call, const coll_values *values) {
    (void)values;
    const coll_data *data = call->data;
    size_t most = data->bytes < piece ? data->bytes : piece;
    void *segment = NULL;
    if (!coll_data_in_place(data)) {
        segment = malloc(most);
        if (!segment)
            return coll_error(MPI_ERR_NO_MEM, "no memory for a packed piece of %zu bytes", most);
    }
    int code = MPI_SUCCESS;
    bool is_root = call->comm->rank == call->root;
    for (size_t from = 0; from < data->bytes && code == MPI_SUCCESS; from += most) {
        size_t length = data->bytes - from < most ? data->bytes - from : most;
        void *bytes = is_root ? coll_data_read(data, from, length, segment)
                              : coll_data_target(data, from, segment);
        code = PMPI_Bcast(bytes, (int)length, MPI_BYTE, call->root, call->comm->private);
        if (code == MPI_SUCCESS && !is_root)
            coll_data_store(data, from, length, segment);
    }
    free(segment);
    return code;
}

const coll_bcast_algorithm coll_bcast_native = {
    .base = {.name = "native",
             .summary = "the MPI library's own broadcast",
             .params = params,
             .predict = predict},
    .run = run,
};
