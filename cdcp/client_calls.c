/* The collectives that DCPs serve, as application ranks call them. */
#include "config.h"

#include "cdcp/client.h"

#include "cdcp/dcp_operation.h"
#include "cdcp/job.h"
#include "cdcp/operands.h"

/* That of COMM where DCPs serve it, else NULL. */
static coll_membership *served(MPI_Comm comm) {
    coll_membership *membership = coll_the_job.posts ? coll_membership_of(comm) : NULL;
    return membership && membership->served ? membership : NULL;
}

/* --- Allreduce --- */

bool coll_dcp_takes(MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    coll_membership *membership = served(comm);
    if (!membership)
        return false;
    coll_membership_look_up(membership, type, op);
    return count >= 0 && count <= membership->most;
}

/* COUNT elements of the operands looked up last, as they lie at BUFFER. */
static coll_data operands_at(const void *buffer, int count, const coll_membership *membership) {
    return (coll_data){.bytes = (size_t)count * membership->extent, .base = (char *)buffer};
}

static coll_client_call allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type,
                                  MPI_Op op, coll_membership *membership) {
    coll_membership_look_up(membership, type, op);
    const void *from = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    return (coll_client_call){.code = coll_dcp_code(COLL_DCP_ALLREDUCE, membership->code),
                              .count = count,
                              .given = operands_at(from, count, membership),
                              .wanted = operands_at(recvbuf, count, membership)};
}

int coll_dcp_prepare(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm, coll_dcp_request **request) {
    coll_membership *membership = coll_membership_of(comm);
    coll_client_call call = allreduce(sendbuf, recvbuf, count, type, op, membership);
    return coll_client_prepare(membership, &call, request);
}

int coll_dcp_post(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, coll_dcp_request **request) {
    coll_membership *membership = coll_membership_of(comm);
    coll_client_call call = allreduce(sendbuf, recvbuf, count, type, op, membership);
    return coll_client_post(membership, &call, request);
}

/* --- Data of any type --- */

/* Whether COUNT elements of TYPE at BUFFER are no error as far as this tells, and their *BYTES. */
static bool is_data(const void *buffer, MPI_Count count, MPI_Datatype type, MPI_Count *bytes) {
    int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    MPI_Count size;
    if (count < 0 || type == MPI_DATATYPE_NULL || buffer == MPI_IN_PLACE ||
        PMPI_Type_size_x(type, &size) != MPI_SUCCESS || __builtin_mul_overflow(count, size, bytes))
        return false;
    if (buffer || *bytes == 0)
        return true;
    /* MPI_BOTTOM, if the type has addresses */
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
           combiner != MPI_COMBINER_NAMED;
}

/* The MPI library alone knows whether TYPE is committed: it is asked where nothing else asks it. */
static int open_data(coll_data *data, const void *buffer, MPI_Count count, MPI_Datatype type) {
    const char nothing = 0;
    int code = coll_data_open(data, (void *)buffer, count, type);
    if (code == MPI_SUCCESS && !data->plain_bytes)
        code = PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, coll_the_job.wire);
    return code;
}

/* Posts CALL unless one of its data has not been opened, which is CODE. */
static int post(int code, coll_membership *membership, coll_client_call *call,
                coll_dcp_request **request) {
    if (code == MPI_SUCCESS)
        return coll_client_post(membership, call, request);
    coll_client_drop(call);
    return code;
}

/* --- Broadcast --- */

bool coll_dcp_takes_bcast(const void *buffer, MPI_Count count, MPI_Datatype type, int root,
                          MPI_Comm comm) {
    const coll_membership *membership = served(comm);
    MPI_Count bytes;
    return membership && root >= 0 && root < membership->ranks &&
           is_data(buffer, count, type, &bytes) && bytes <= (MPI_Count)coll_the_job.limit;
}

int coll_dcp_post_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                        coll_dcp_request **request) {
    coll_membership *membership = coll_membership_of(comm);
    coll_client_call call = {.code = coll_dcp_code(COLL_DCP_BCAST, root)};
    bool is_root = membership->rank == root;
    coll_data *data = is_root ? &call.given : &call.wanted;
    int code = open_data(data, buffer, count, type);
    call.count = (int32_t)data->bytes;
    return post(code, membership, &call, request);
}

/* --- Alltoall --- */

static bool fits(MPI_Count block, const coll_membership *membership) {
    return block <= (MPI_Count)(coll_the_job.blocks / (size_t)membership->ranks);
}

bool coll_dcp_takes_alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             const void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm) {
    const coll_membership *membership = served(comm);
    MPI_Count block, sent;
    if (!membership || !is_data(recvbuf, recvcount, recvtype, &block) || !fits(block, membership))
        return false;
    return sendbuf == MPI_IN_PLACE ||
           (is_data(sendbuf, sendcount, sendtype, &sent) && sent == block);
}

int coll_dcp_post_alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           coll_dcp_request **request) {
    coll_membership *membership = coll_membership_of(comm);
    coll_client_call call = {.code = coll_dcp_code(COLL_DCP_ALLTOALL, 0)};
    MPI_Count ranks = membership->ranks;
    int code = open_data(&call.wanted, recvbuf, ranks * recvcount, recvtype);
    if (code == MPI_SUCCESS)
        code = sendbuf == MPI_IN_PLACE
                   ? open_data(&call.given, recvbuf, ranks * recvcount, recvtype)
                   : open_data(&call.given, sendbuf, ranks * sendcount, sendtype);
    call.count = (int32_t)(call.wanted.bytes / (size_t)ranks);
    return post(code, membership, &call, request);
}

/* --- Reduce_scatter of equal blocks --- */

bool coll_dcp_takes_reduce_scatter(MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    coll_membership *membership = served(comm);
    MPI_Count block;
    if (!membership)
        return false;
    coll_membership_look_up(membership, type, op);
    return count >= 0 && membership->code >= 0 &&
           !__builtin_mul_overflow(count, (MPI_Count)membership->extent, &block) &&
           fits(block, membership);
}

int coll_dcp_post_reduce_scatter(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm comm, coll_dcp_request **request) {
    coll_membership *membership = coll_membership_of(comm);
    coll_membership_look_up(membership, type, op);
    const void *from = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    coll_client_call call = {.code = coll_dcp_code(COLL_DCP_REDUCE_SCATTER, membership->code),
                             .count = count,
                             .given = operands_at(from, count * membership->ranks, membership),
                             .wanted = operands_at(recvbuf, count, membership)};
    return coll_client_post(membership, &call, request);
}
