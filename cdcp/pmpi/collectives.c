/*
 * The collectives that libcoll takes: allreduces go to dedicated processors, MPI_Bcast and
 * MPI_Gather to libcoll's algorithms where COLL_BCAST and COLL_GATHER ask.
 */
#include "config.h"

#include "cdcp/dcp.h"
#include "cdcp/pmpi/account.h"
#include "cdcp/pmpi/collectives.h"
#include "cdcp/pmpi/mpi_all.h"
#include "coll.h"
#include "lib/base/error.h"

coll_routing coll_routed;

static bool is_served(const void *sendbuf, const void *recvbuf, int count, MPI_Datatype type,
                      MPI_Op op, MPI_Comm comm) {
    return coll_dcp_sound(sendbuf, recvbuf, count) && coll_dcp_takes(count, type, op, comm);
}

/* Posts to a dedicated processor, and waits where REQUEST is NULL. */
static int serve(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm, MPI_Request *request) {
    coll_dcp_request *served;
    coll_account_served();
    int code = coll_dcp_post(sendbuf, recvbuf, count, type, op, comm, &served);
    if (code == MPI_SUCCESS && request)
        *request = (MPI_Request)served;
    else if (code == MPI_SUCCESS)
        code = coll_dcp_wait(&served);
    return coll_raise(comm, code);
}

/*
 * A communicator that had no number from where it was made, MPI_Comm_idup's, gets it in the first
 * blocking allreduce: nonblocking ones may not wait for the other ranks.
 */
static bool is_registered_now(MPI_Comm comm) {
    return !coll_dcp_knows(comm) && coll_raise(comm, coll_dcp_register(comm)) == MPI_SUCCESS;
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    comm = coll_dcp_comm(comm);
    coll_account_enter(COLL_ACCOUNT_collective);
    bool served = is_served(sendbuf, recvbuf, count, type, op, comm) ||
                  (is_registered_now(comm) && is_served(sendbuf, recvbuf, count, type, op, comm));
    int code = served ? serve(sendbuf, recvbuf, count, type, op, comm, NULL)
                      : PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
    coll_account_leave(COLL_ACCOUNT_collective);
    return code;
}

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request) {
    comm = coll_dcp_comm(comm);
    coll_account_enter(COLL_ACCOUNT_collective);
    int code = is_served(sendbuf, recvbuf, count, type, op, comm)
                   ? serve(sendbuf, recvbuf, count, type, op, comm, request)
                   : PMPI_Iallreduce(sendbuf, recvbuf, count, type, op, comm, request);
    coll_account_leave(COLL_ACCOUNT_collective);
    return code;
}

/* MPI 4's name and what Open MPI called it before. */
typedef int initialise(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request);

static int allreduce_init(initialise *below, const void *sendbuf, void *recvbuf, int count,
                          MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request) {
    comm = coll_dcp_comm(comm);
    if (!is_served(sendbuf, recvbuf, count, type, op, comm))
        return below(sendbuf, recvbuf, count, type, op, comm, info, request);
    coll_dcp_request *served;
    int code = coll_dcp_prepare(sendbuf, recvbuf, count, type, op, comm, &served);
    if (code == MPI_SUCCESS)
        *request = (MPI_Request)served;
    return coll_raise(comm, code);
}

#ifdef HAVE_MPI_ALLREDUCE_INIT
int MPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    return allreduce_init(PMPI_Allreduce_init, sendbuf, recvbuf, count, type, op, comm, info,
                          request);
}
#endif

#ifdef HAVE_MPIX_ALLREDUCE_INIT
int MPIX_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    return allreduce_init(PMPIX_Allreduce_init, sendbuf, recvbuf, count, type, op, comm, info,
                          request);
}
#endif

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    comm = coll_dcp_comm(comm);
    coll_account_enter(COLL_ACCOUNT_collective);
    int code = coll_routed.bcast ? COLL_Bcast(buffer, count, type, root, comm)
                                 : PMPI_Bcast(buffer, count, type, root, comm);
    coll_account_leave(COLL_ACCOUNT_collective);
    return code;
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    comm = coll_dcp_comm(comm);
    coll_account_enter(COLL_ACCOUNT_collective);
    int code =
        coll_routed.gather
            ? COLL_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
            : PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    coll_account_leave(COLL_ACCOUNT_collective);
    return code;
}
