/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dcp: dedicated processors reduce while the ranks wait; for small data of many ranks.
 *
 * 1. Each rank posts its values to its DCP (cdcp/client.c).
 * 2. The DCPs combine their values by recursive multiplying (cdcp/dcp_tree.c).
 * 3. Each rank fetches the result.
 *
 * Steps: two between a rank and its DCP, and log_r D among D DCPs, with radix r. Bytes: m from
 * every rank and m to every rank; over an uplink, (r - 1) m for each DCP of a rack and each step.
 *
 * Source: Sancho, Kerbyson and Barker, sections IV and V.E.
 */
#include "config.h"

#include "cdcp/dcp_allreduce.h"

#include "cdcp/client_comm.h"
#include "cdcp/dcp.h"
#include "cdcp/job.h"
#include "lib/base/error.h"
#include "lib/plan/engine.h"

size_t coll_dcp_most(MPI_Comm comm, MPI_Datatype type, MPI_Op op) {
    const coll_client_comm *client_comm = coll_client_comm_reducing(type, op, comm);
    return client_comm && client_comm->most > 0 ? (size_t)client_comm->most * client_comm->extent
                                                : 0;
}

static bool is_served(const coll_shape *call) {
    return call->served > 0 && call->bytes <= call->served;
}

static double predict(const coll_shape *call, const coll_values *values) {
    (void)values;
    return coll_model_latency(&coll_the_job.model, coll_the_job.radix, call->bytes);
}

/* The rank's contribution is already in the result's buffer. */
static int run(const coll_exec_args *call) {
    const coll_data *data = call->data;
    MPI_Comm comm = call->comm->user;
    coll_dcp_request *request;
    int code = coll_dcp_post(MPI_IN_PLACE, data->buffer, data->count, data->type,
                             call->reduction->op, comm, &request);
    if (code == MPI_SUCCESS && !request)
        return coll_error(MPI_ERR_BUFFER, "allreduce: no buffer for %zu bytes", data->bytes);
    return code == MPI_SUCCESS ? coll_dcp_wait(&request, &comm) : code;
}

const coll_algorithm coll_allreduce_dcp = {
    .name = "dcp",
    .summary = "by dedicated processors, where COLL_DCP has some; small data",
    .applicable = is_served,
    .predict = predict,
    .run = run,
};
