/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls by which application ranks post collectives to DCPs, and the functions DCP_I... of
 * coll.h, which run a collective with the MPI library if no DCP takes it.
 */
#include "config.h"

#include "cdcp/client.h"

#include "cdcp/dcp_operation.h"
#include "cdcp/job.h"
#include "cdcp/native.h"
#include "coll.h"
#include "lib/base/envelope.h"
#include "lib/base/error.h"

/*
 * Creates a request for a call with CODE and COUNT as coll_client_request does. After an error,
 * withdraws from the call.
 */
static inline int make_request(coll_client_comm *client_comm, int32_t code, int32_t count,
                               coll_dcp_request **request) {
    int error = coll_client_request(client_comm, code, count, request);
    return error == MPI_SUCCESS
               ? MPI_SUCCESS
               : coll_client_withdraw(client_comm, &client_comm->series, code, count, error);
}

/*
 * Posts *REQUEST. CODE is the result of opening its data; if it is an error, withdraws from the
 * call. After an error, ends the request.
 */
static inline int post_request(int code, coll_dcp_request **request) {
    coll_dcp_request *posted = *request;
    if (code == MPI_SUCCESS)
        code = coll_dcp_begin(posted);
    else
        coll_client_withdraw(posted->client_comm, posted->series, posted->call.code,
                             posted->call.count, code);
    if (code != MPI_SUCCESS)
        (void)coll_dcp_release(request);
    return code;
}

/* --- Reductions --- */

/* Returns false for erroneous buffers. */
static bool are_valid_buffers(const void *sendbuf, const void *recvbuf, MPI_Count count) {
    if (count > 0 && (!sendbuf || !recvbuf))
        return false;
    if (count > 1 && sendbuf == recvbuf) /* allowed for a single element */
        return false;
    return recvbuf != MPI_IN_PLACE;
}

/*
 * Opens the data of a reduction with the operands that REQUEST's communicator has looked up last.
 * The result has as many elements as the call's count; SENDBUF has TIMES as many.
 */
static inline void open_reduction(const void *sendbuf, void *recvbuf, int times,
                                  coll_dcp_request *request) {
    const void *from = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    coll_client_call *call = &request->call;
    size_t bytes = (size_t)call->count * request->client_comm->extent;
    coll_data_open_bytes(&call->given, coll_data_read_only(from), bytes * (size_t)times);
    coll_data_open_bytes(&call->wanted, recvbuf, bytes);
}

/*
 * Posts a reduction of COUNT elements by OPERATION with the operands that CLIENT_COMM has looked up
 * last, as open_reduction says.
 */
static inline int post_reduction(coll_dcp_operation operation, const void *sendbuf, void *recvbuf,
                                 MPI_Count count, int times, coll_client_comm *client_comm,
                                 coll_dcp_request **request) {
    int code = make_request(client_comm, coll_dcp_code(operation, client_comm->code),
                            (int32_t)count, request);
    if (code != MPI_SUCCESS)
        return code;
    open_reduction(sendbuf, recvbuf, times, *request);
    return post_request(MPI_SUCCESS, request);
}

/* --- Allreduce --- */

static inline bool takes_allreduce(const void *sendbuf, const void *recvbuf, MPI_Count count,
                                   const coll_client_comm *client_comm) {
    return client_comm && count >= 0 && count <= client_comm->most &&
           are_valid_buffers(sendbuf, recvbuf, count);
}

int coll_dcp_prepare(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm comm, coll_dcp_request **request) {
    coll_client_comm *client_comm = coll_client_comm_reducing(type, op, comm);
    coll_client_series series;
    bool failed;
    *request = NULL;
    if (!takes_allreduce(sendbuf, recvbuf, count, client_comm))
        return MPI_SUCCESS;
    int code = coll_client_request(
        client_comm, coll_dcp_code(COLL_DCP_ALLREDUCE, client_comm->code), (int32_t)count, request);
    if (code == MPI_SUCCESS)
        open_reduction(sendbuf, recvbuf, 1, *request);
    code = coll_client_series_begin(client_comm, *request, &series, &failed);
    if (!*request)
        return code;
    if (code != MPI_SUCCESS || failed) {
        (void)coll_dcp_release(request);
        return code;
    }
    (*request)->own = series;
    (*request)->series = &(*request)->own;
    (*request)->persistent = true;
    return MPI_SUCCESS;
}

int coll_dcp_post(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, coll_dcp_request **request) {
    coll_client_comm *client_comm = coll_client_comm_reducing(type, op, comm);
    *request = NULL;
    if (!takes_allreduce(sendbuf, recvbuf, count, client_comm))
        return MPI_SUCCESS;
    return post_reduction(COLL_DCP_ALLREDUCE, sendbuf, recvbuf, count, 1, client_comm, request);
}

int DCP_IAllreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, DCP_Request *request) {
    comm = coll_dcp_comm(comm);
    int code = coll_dcp_post(sendbuf, recvbuf, count, type, op, comm, request);
    if (*request || code != MPI_SUCCESS)
        return coll_raise(comm, code);
    const coll_user user = {.send = sendbuf,
                            .receive = recvbuf,
                            .receive_count = count,
                            .receive_type = type,
                            .op = op};
    return coll_native_start(COLL_OPERATION_ALLREDUCE, &user, comm, request);
}

/* --- Data of any type --- */

/*
 * Returns whether COUNT elements of TYPE at BUFFER seem to be correct arguments, and sets *BYTES to
 * their size.
 */
static bool is_data(const void *buffer, MPI_Count count, MPI_Datatype type, MPI_Count *bytes) {
    coll_envelope envelope;
    MPI_Count size;
    if (count < 0 || type == MPI_DATATYPE_NULL || buffer == MPI_IN_PLACE ||
        PMPI_Type_size_x(type, &size) != MPI_SUCCESS || __builtin_mul_overflow(count, size, bytes))
        return false;
    if (buffer || *bytes == 0)
        return true;
    /* A null BUFFER can only be MPI_BOTTOM, which needs a derived type with absolute addresses. */
    return coll_envelope_get(type, &envelope) == MPI_SUCCESS &&
           envelope.combiner != MPI_COMBINER_NAMED;
}

/*
 * Opens DATA. Only the MPI library can check whether TYPE is committed. If TYPE is not a predefined
 * type without gaps, a send to MPI_PROC_NULL, which sends nothing, makes the MPI library check.
 */
static int open_data(coll_data *data, const void *buffer, MPI_Count count, MPI_Datatype type) {
    const char nothing = 0;
    int code = coll_data_open(data, coll_data_read_only(buffer), count, type);
    if (code == MPI_SUCCESS && !data->plain_bytes)
        code = PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, coll_the_job.wire);
    return code;
}

/* --- Broadcast --- */

static bool takes_bcast(const void *buffer, MPI_Count count, MPI_Datatype type, int root,
                        const coll_client_comm *client_comm, MPI_Count *bytes) {
    return client_comm && root >= 0 && root < client_comm->ranks &&
           is_data(buffer, count, type, bytes) && *bytes <= (MPI_Count)coll_the_job.limit;
}

int coll_dcp_post_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                        coll_dcp_request **request) {
    coll_client_comm *client_comm = coll_client_comm_served(comm);
    MPI_Count bytes;
    *request = NULL;
    if (!takes_bcast(buffer, count, type, root, client_comm, &bytes))
        return MPI_SUCCESS;
    int code =
        make_request(client_comm, coll_dcp_code(COLL_DCP_BCAST, root), (int32_t)bytes, request);
    if (code != MPI_SUCCESS)
        return code;
    coll_client_call *call = &(*request)->call;
    call->given = call->wanted = (coll_data){0};
    coll_data *data = client_comm->rank == root ? &call->given : &call->wanted;
    return post_request(open_data(data, buffer, count, type), request);
}

int DCP_IBcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
               DCP_Request *request) {
    comm = coll_dcp_comm(comm);
    int code = coll_dcp_post_bcast(buffer, count, type, root, comm, request);
    if (*request || code != MPI_SUCCESS)
        return coll_raise(comm, code);
    const coll_user user = {
        .receive = buffer, .receive_count = count, .receive_type = type, .root = root};
    return coll_native_start(COLL_OPERATION_BCAST, &user, comm, request);
}

/* --- Alltoall --- */

static bool block_fits(MPI_Count block, const coll_client_comm *client_comm) {
    return block <= (MPI_Count)(coll_the_job.blocks / (size_t)client_comm->ranks);
}

static bool takes_alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                           const coll_client_comm *client_comm, MPI_Count *block) {
    MPI_Count sent;
    if (!client_comm || !is_data(recvbuf, recvcount, recvtype, block) ||
        !block_fits(*block, client_comm))
        return false;
    return sendbuf == MPI_IN_PLACE ||
           (is_data(sendbuf, sendcount, sendtype, &sent) && sent == *block);
}

int coll_dcp_post_alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           coll_dcp_request **request) {
    coll_client_comm *client_comm = coll_client_comm_served(comm);
    MPI_Count block;
    *request = NULL;
    if (!takes_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, client_comm,
                        &block))
        return MPI_SUCCESS;
    int code =
        make_request(client_comm, coll_dcp_code(COLL_DCP_ALLTOALL, 0), (int32_t)block, request);
    if (code != MPI_SUCCESS)
        return code;
    const MPI_Count ranks = client_comm->ranks;
    coll_client_call *call = &(*request)->call;
    call->given = call->wanted = (coll_data){0};
    code = open_data(&call->wanted, recvbuf, ranks * recvcount, recvtype);
    if (code == MPI_SUCCESS)
        code = sendbuf == MPI_IN_PLACE
                   ? open_data(&call->given, recvbuf, ranks * recvcount, recvtype)
                   : open_data(&call->given, sendbuf, ranks * sendcount, sendtype);
    return post_request(code, request);
}

int DCP_IAlltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, DCP_Request *request) {
    comm = coll_dcp_comm(comm);
    int code = coll_dcp_post_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      comm, request);
    if (*request || code != MPI_SUCCESS)
        return coll_raise(comm, code);
    const coll_user user = {.send = sendbuf,
                            .send_count = sendbuf == MPI_IN_PLACE ? 0 : sendcount,
                            .send_type = sendtype,
                            .receive = recvbuf,
                            .receive_count = recvcount,
                            .receive_type = recvtype};
    return coll_native_start(COLL_OPERATION_ALLTOALL, &user, comm, request);
}

/* --- Reduce_scatter of equal blocks --- */

static bool takes_reduce_scatter(MPI_Count count, const coll_client_comm *client_comm) {
    MPI_Count block;
    return client_comm && count >= 0 && client_comm->code >= 0 &&
           !__builtin_mul_overflow(count, (MPI_Count)client_comm->extent, &block) &&
           block_fits(block, client_comm);
}

bool coll_dcp_takes_reduce_scatter(MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return takes_reduce_scatter(count, coll_client_comm_reducing(type, op, comm));
}

int coll_dcp_post_reduce_scatter(const void *sendbuf, void *recvbuf, MPI_Count count,
                                 MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                 coll_dcp_request **request) {
    coll_client_comm *client_comm = coll_client_comm_reducing(type, op, comm);
    *request = NULL;
    if (!takes_reduce_scatter(count, client_comm) || !are_valid_buffers(sendbuf, recvbuf, count))
        return MPI_SUCCESS;
    return post_reduction(COLL_DCP_REDUCE_SCATTER, sendbuf, recvbuf, count, client_comm->ranks,
                          client_comm, request);
}

int DCP_IReduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm, DCP_Request *request) {
    comm = coll_dcp_comm(comm);
    int code = coll_dcp_post_reduce_scatter(sendbuf, recvbuf, recvcount, type, op, comm, request);
    if (*request || code != MPI_SUCCESS)
        return coll_raise(comm, code);
    const coll_user user = {.send = sendbuf,
                            .receive = recvbuf,
                            .receive_count = recvcount,
                            .receive_type = type,
                            .op = op};
    return coll_native_start(COLL_OPERATION_REDUCE_SCATTER, &user, comm, request);
}
