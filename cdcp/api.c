/* The entries of dedicated processors, and the MPI library in their place where none serves. */
#include "config.h"

#include "cdcp/dcp.h"
#include "coll.h"
#include "coll_tools.h"
#include "lib/base/error.h"

#include <limits.h>
#include <stdlib.h>

/* An allreduce that no DCP takes. Others are coll_dcp_requests, which coll_dcp_owns tells. */
struct DCP_Pending {
    MPI_Request native;
    MPI_Comm comm; /* for its errors */
};

static int post_native(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type,
                       MPI_Op op, MPI_Comm comm, DCP_Request *request) {
    if (count > INT_MAX)
        return coll_raise(
            comm, coll_error(MPI_ERR_COUNT, "DCP_IAllreduce: more than %d elements", INT_MAX));
    struct DCP_Pending *pending = malloc(sizeof *pending);
    if (!pending)
        return coll_raise(comm, coll_error(MPI_ERR_NO_MEM, "no memory for a request"));
    pending->comm = comm;
    int code = PMPI_Iallreduce(sendbuf, recvbuf, (int)count, type, op, comm, &pending->native);
    if (code != MPI_SUCCESS)
        free(pending);
    else
        *request = pending;
    return code;
}

int DCP_IAllreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, DCP_Request *request) {
    comm = coll_dcp_comm(comm);
    *request = DCP_REQUEST_NULL;
    if (!coll_dcp_sound(sendbuf, recvbuf, count) || !coll_dcp_takes(count, type, op, comm))
        return post_native(sendbuf, recvbuf, count, type, op, comm, request);
    coll_dcp_request *served;
    int code = coll_dcp_post(sendbuf, recvbuf, (int)count, type, op, comm, &served);
    if (code == MPI_SUCCESS)
        *request = (DCP_Request)served;
    return coll_raise(comm, code);
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
