/* The entries of dedicated processors, and the MPI library in their place where none serves. */
#include "config.h"

#include "cdcp/dcp.h"
#include "coll.h"
#include "coll_tools.h"
#include "lib/base/error.h"

#include <limits.h>
#include <stdlib.h>

/* A collective that no DCP takes. Others are coll_dcp_requests, which coll_dcp_owns tells. */
struct DCP_Pending {
    MPI_Request native;
    MPI_Comm comm; /* for its errors */
};

/* Makes what the MPI library's call NAME, of COUNT elements, is to begin. */
static int make_pending(const char *name, MPI_Count count, MPI_Comm comm,
                        struct DCP_Pending **made) {
    *made = NULL;
    if (count > INT_MAX)
        return coll_raise(comm,
                          coll_error(MPI_ERR_COUNT, "%s: more than %d elements", name, INT_MAX));
    struct DCP_Pending *pending = malloc(sizeof *pending);
    if (!pending)
        return coll_raise(comm, coll_error(MPI_ERR_NO_MEM, "no memory for a request"));
    pending->comm = comm;
    *made = pending;
    return MPI_SUCCESS;
}

/* The MPI library has begun PENDING with CODE. */
static int begun(int code, struct DCP_Pending *pending, DCP_Request *request) {
    if (code != MPI_SUCCESS)
        free(pending);
    else
        *request = pending;
    return code;
}

/* SERVED has been posted with CODE. */
static int posted(int code, coll_dcp_request *served, MPI_Comm comm, DCP_Request *request) {
    if (code == MPI_SUCCESS)
        *request = (DCP_Request)served;
    return coll_raise(comm, code);
}

int DCP_IAllreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, DCP_Request *request) {
    comm = coll_dcp_comm(comm);
    *request = DCP_REQUEST_NULL;
    if (coll_dcp_sound(sendbuf, recvbuf, count) && coll_dcp_takes(count, type, op, comm)) {
        coll_dcp_request *served;
        int code = coll_dcp_post(sendbuf, recvbuf, (int)count, type, op, comm, &served);
        return posted(code, served, comm, request);
    }
    struct DCP_Pending *pending;
    int code = make_pending("DCP_IAllreduce", count, comm, &pending);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Iallreduce(sendbuf, recvbuf, (int)count, type, op, comm, &pending->native);
    return begun(code, pending, request);
}

int DCP_IBcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
               DCP_Request *request) {
    comm = coll_dcp_comm(comm);
    *request = DCP_REQUEST_NULL;
    if (coll_dcp_takes_bcast(buffer, count, type, root, comm)) {
        coll_dcp_request *served;
        int code = coll_dcp_post_bcast(buffer, count, type, root, comm, &served);
        return posted(code, served, comm, request);
    }
    struct DCP_Pending *pending;
    int code = make_pending("DCP_IBcast", count, comm, &pending);
    if (code != MPI_SUCCESS)
        return code;
    return begun(PMPI_Ibcast(buffer, (int)count, type, root, comm, &pending->native), pending,
                 request);
}

int DCP_IAlltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, DCP_Request *request) {
    comm = coll_dcp_comm(comm);
    *request = DCP_REQUEST_NULL;
    if (coll_dcp_takes_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)) {
        coll_dcp_request *served;
        int code = coll_dcp_post_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                          recvtype, comm, &served);
        return posted(code, served, comm, request);
    }
    MPI_Count sent = sendbuf == MPI_IN_PLACE ? 0 : sendcount; /* else it doesn't count */
    struct DCP_Pending *pending;
    int code = make_pending("DCP_IAlltoall", sent > recvcount ? sent : recvcount, comm, &pending);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Ialltoall(sendbuf, (int)sent, sendtype, recvbuf, (int)recvcount, recvtype, comm,
                          &pending->native);
    return begun(code, pending, request);
}

int DCP_IReduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm, DCP_Request *request) {
    comm = coll_dcp_comm(comm);
    *request = DCP_REQUEST_NULL;
    if (coll_dcp_sound(sendbuf, recvbuf, recvcount) &&
        coll_dcp_takes_reduce_scatter(recvcount, type, op, comm)) {
        coll_dcp_request *served;
        int code =
            coll_dcp_post_reduce_scatter(sendbuf, recvbuf, (int)recvcount, type, op, comm, &served);
        return posted(code, served, comm, request);
    }
    struct DCP_Pending *pending;
    int code = make_pending("DCP_IReduce_scatter_block", recvcount, comm, &pending);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Ireduce_scatter_block(sendbuf, recvbuf, (int)recvcount, type, op, comm,
                                      &pending->native);
    return begun(code, pending, request);
}

int DCP_Wait(DCP_Request *request) {
    struct DCP_Pending *pending = *request;
    if (!pending)
        return MPI_SUCCESS;
    if (coll_dcp_owns(pending)) {
        MPI_Comm comm = coll_dcp_request_comm((coll_dcp_request *)pending);
        *request = DCP_REQUEST_NULL;
        return coll_raise(comm, coll_dcp_wait(&(coll_dcp_request *){(coll_dcp_request *)pending}));
    }
    int code = PMPI_Wait(&pending->native, MPI_STATUS_IGNORE);
    free(pending);
    *request = DCP_REQUEST_NULL;
    return code;
}

int DCP_Test(DCP_Request *request, int *flag) {
    struct DCP_Pending *pending = *request;
    *flag = 1;
    if (!pending)
        return MPI_SUCCESS;
    if (coll_dcp_owns(pending)) {
        *flag = coll_dcp_ready((coll_dcp_request *)pending);
        return *flag ? DCP_Wait(request) : MPI_SUCCESS;
    }
    int code = PMPI_Test(&pending->native, flag, MPI_STATUS_IGNORE);
    if (*flag || code != MPI_SUCCESS) {
        free(pending);
        *request = DCP_REQUEST_NULL;
    }
    return code;
}

int DCP_Start(const char *spec, MPI_Comm *app) {
    return coll_dcp_start(spec, MPI_COMM_WORLD, app);
}
