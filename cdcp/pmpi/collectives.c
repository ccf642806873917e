/*
 * The collectives that libcoll takes: allreduces and some nonblocking ones go to dedicated
 * processors, and all blocking ones to libcoll's algorithms where COLL_WRAP or their own settings
 * ask. Other nonblocking and persistent ones stay the MPI library's: their requests are among the
 * program's others.
 */
#include "config.h"

#include "cdcp/dcp.h"
#include "cdcp/dcp_model.h"
#include "cdcp/operands.h"
#include "cdcp/pmpi/account.h"
#include "cdcp/pmpi/collectives.h"
#include "cdcp/pmpi/mpi_all.h"
#include "cdcp/pmpi/requests.h"
#include "coll.h"
#include "lib/base/error.h"

#include <stdlib.h>

bool coll_routed[COLL_OPERATIONS];

/*
 * What a call counts as: SUCH where dedicated processors would serve it on any job, which is COUNT
 * elements for each of BLOCKS ranks, reduced unless OP is MPI_OP_NULL, in the fewest bytes that are
 * any job's limit.
 */
static coll_account_kind kind_of(coll_account_kind such, MPI_Count count, int blocks,
                                 MPI_Datatype type, MPI_Op op) {
    const MPI_Count limit = COLL_MODEL_LIMIT_LEAST;
    int size;
    if (!coll_account_on || count < 0 || type == MPI_DATATYPE_NULL ||
        (op != MPI_OP_NULL && coll_operands_code(type, op) < 0) ||
        PMPI_Type_size(type, &size) != MPI_SUCCESS || count > limit)
        return COLL_ACCOUNT_collective;
    return count * blocks * size <= limit ? such : COLL_ACCOUNT_collective;
}

static coll_account_kind kind_of_whole(coll_account_kind such, MPI_Count count, MPI_Datatype type,
                                       MPI_Op op) {
    return kind_of(such, count, 1, type, op);
}

static coll_account_kind kind_of_blocks(MPI_Count count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm) {
    int ranks = 1;
    if (coll_account_on && (comm == MPI_COMM_NULL || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS))
        return COLL_ACCOUNT_collective;
    return kind_of(COLL_ACCOUNT_started, count, ranks, type, op);
}

/*
 * A communicator that had no number from where it was made, MPI_Comm_idup's, gets it in the first
 * blocking allreduce: nonblocking ones may not wait for the other ranks.
 */
static bool is_registered_now(MPI_Comm comm) {
    return !coll_dcp_knows(comm) && coll_raise(comm, coll_dcp_register(comm)) == MPI_SUCCESS;
}

/* Waits for SERVED, whose posting was CODE. */
static int finish(int code, coll_dcp_request *served, MPI_Comm comm) {
    if (served) {
        coll_account_served();
        code = coll_dcp_wait(&served, &comm);
    }
    return coll_raise(comm, code);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    coll_dcp_request *served;
    comm = coll_dcp_comm(comm);
    coll_account_enter(COLL_ACCOUNT_collective);
    int code = coll_dcp_post(sendbuf, recvbuf, count, type, op, comm, &served);
    if (code == MPI_SUCCESS && !served && is_registered_now(comm))
        code = coll_dcp_post(sendbuf, recvbuf, count, type, op, comm, &served);
    if (served || code != MPI_SUCCESS)
        code = finish(code, served, comm);
    else if (coll_routed[COLL_OPERATION_ALLREDUCE])
        code = COLL_Allreduce(sendbuf, recvbuf, count, type, op, comm);
    else
        code = PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
    coll_account_leave(kind_of_whole(COLL_ACCOUNT_served, count, type, op));
    return code;
}

/* MPI 4's name and what Open MPI called it before. */
typedef int initialise(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request);

static int allreduce_init(initialise *below, const void *sendbuf, void *recvbuf, int count,
                          MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request) {
    coll_dcp_request *served;
    comm = coll_dcp_comm(comm);
    int code = coll_dcp_prepare(sendbuf, recvbuf, count, type, op, comm, &served);
    if (code == MPI_SUCCESS && !served)
        return below(sendbuf, recvbuf, count, type, op, comm, info, request);
    if (served)
        *request = coll_requests_handle(served);
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

/* --- Nonblocking ones --- */

/* The MPI library's REQUEST of a collective that counts as KIND and whose start was CODE. */
static int note(int code, MPI_Request *request, coll_account_kind kind) {
    if (code == MPI_SUCCESS && kind == COLL_ACCOUNT_started)
        coll_account_note(*request);
    return code;
}

/* What a call does: posts it as SERVED where dedicated processors take it, or it is the library's.
 * It counts as KIND. */
#define SERVE(kind, posts, theirs)                                                                 \
    do {                                                                                           \
        coll_dcp_request *served = NULL;                                                           \
        comm = coll_dcp_comm(comm);                                                                \
        const coll_account_kind counts_as = kind;                                                  \
        coll_account_enter(counts_as);                                                             \
        int code = request ? posts : MPI_SUCCESS;                                                  \
        if (served) {                                                                              \
            coll_account_served();                                                                 \
            *request = coll_requests_handle(served);                                               \
        } else                                                                                     \
            code =                                                                                 \
                code == MPI_SUCCESS ? note(theirs, request, counts_as) : coll_raise(comm, code);   \
        coll_account_leave(counts_as);                                                             \
        return code;                                                                               \
    } while (0)

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request) {
    SERVE(kind_of_whole(COLL_ACCOUNT_started, count, type, op),
          coll_dcp_post(sendbuf, recvbuf, count, type, op, comm, &served),
          PMPI_Iallreduce(sendbuf, recvbuf, count, type, op, comm, request));
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request) {
    SERVE(kind_of_whole(COLL_ACCOUNT_started, count, type, MPI_OP_NULL),
          coll_dcp_post_bcast(buffer, count, type, root, comm, &served),
          PMPI_Ibcast(buffer, count, type, root, comm, request));
}

int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
    SERVE(
        kind_of_blocks(recvcount, recvtype, MPI_OP_NULL, comm),
        coll_dcp_post_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                               &served),
        PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request));
}

int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    SERVE(kind_of_blocks(recvcount, type, op, comm),
          coll_dcp_post_reduce_scatter(sendbuf, recvbuf, recvcount, type, op, comm, &served),
          PMPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm, request));
}

/* The count that all of a communicator's ranks have in COUNTS, or -1, which DCPs don't take. */
static int common_count(const int counts[], MPI_Comm comm) {
    int ranks;
    if (!counts || comm == MPI_COMM_NULL || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS)
        return -1;
    for (int i = 1; i < ranks; i++)
        if (counts[i] != counts[0])
            return -1;
    return counts[0];
}

int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                        MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    bool perhaps =
        coll_account_on || coll_dcp_takes_reduce_scatter(0, type, op, coll_dcp_comm(comm));
    int count = perhaps ? common_count(recvcounts, coll_dcp_comm(comm)) : -1;
    SERVE(kind_of_blocks(count, type, op, comm),
          coll_dcp_post_reduce_scatter(sendbuf, recvbuf, count, type, op, comm, &served),
          PMPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm, request));
}

/* --- Those by one count --- */

/* What a call does: libcoll's NAME or the MPI library's, with the same arguments. */
#define ROUTE(operation, name, ...)                                                                \
    do {                                                                                           \
        comm = coll_dcp_comm(comm);                                                                \
        coll_account_enter(COLL_ACCOUNT_collective);                                               \
        int code = coll_routed[COLL_OPERATION_##operation] ? COLL_##name(__VA_ARGS__)              \
                                                           : PMPI_##name(__VA_ARGS__);             \
        coll_account_leave(COLL_ACCOUNT_collective);                                               \
        return code;                                                                               \
    } while (0)

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    ROUTE(BCAST, Bcast, buffer, count, type, root, comm);
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    ROUTE(GATHER, Gather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
    ROUTE(SCATTER, Scatter, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    ROUTE(ALLGATHER, Allgather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    ROUTE(ALLTOALL, Alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
               int root, MPI_Comm comm) {
    ROUTE(REDUCE, Reduce, sendbuf, recvbuf, count, type, op, root, comm);
}

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm) {
    ROUTE(REDUCE_SCATTER, Reduce_scatter_block, sendbuf, recvbuf, recvcount, type, op, comm);
}

int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
             MPI_Comm comm) {
    ROUTE(SCAN, Scan, sendbuf, recvbuf, count, type, op, comm);
}

int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm) {
    ROUTE(EXSCAN, Exscan, sendbuf, recvbuf, count, type, op, comm);
}

int MPI_Barrier(MPI_Comm comm) {
    ROUTE(BARRIER, Barrier, comm);
}

/* --- Those by a count of each rank --- */

/* Counts and displacements as libcoll has them. */
typedef struct vectors {
    MPI_Count *counts;
    MPI_Aint *places;
} vectors;

/* Between two groups they are the MPI library's in any case: libcoll would only pass them on. */
static bool is_routed(coll_operation operation, MPI_Comm comm) {
    int inter = 0;
    if (!coll_routed[operation] || comm == MPI_COMM_NULL ||
        PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return false;
    return !inter;
}

static bool is_at(int root, MPI_Comm comm) {
    int rank = MPI_PROC_NULL;
    return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

/*
 * Makes *MADE, freed by its counts, of what the program gave; of nothing where it is NEEDED by no
 * one, since anything may stand there then. PLACES is NULL where there are none.
 */
static int widen(vectors *made, bool needed, const int counts[], const int places[],
                 MPI_Comm comm) {
    int ranks;
    if (!needed)
        return MPI_SUCCESS;
    if (!counts)
        return coll_raise(comm, coll_error(MPI_ERR_COUNT, "null pointer for counts"));
    int code = PMPI_Comm_size(comm, &ranks);
    if (code != MPI_SUCCESS)
        return code;
    made->counts = malloc((size_t)ranks * (sizeof *made->counts + sizeof *made->places));
    if (!made->counts)
        return coll_raise(comm, coll_error(MPI_ERR_NO_MEM, "no memory for %d counts", ranks));
    made->places = (MPI_Aint *)(made->counts + ranks);
    for (int rank = 0; rank < ranks; rank++) {
        made->counts[rank] = counts[rank];
        made->places[rank] = places ? places[rank] : 0;
    }
    return MPI_SUCCESS;
}

/* The same as ROUTE; libcoll's arguments have what SENT and RECEIVED make, in brackets. */
#define ROUTE_BY_COUNTS(operation, theirs, sent, received, ours)                                   \
    do {                                                                                           \
        vectors to = {NULL, NULL}, from = {NULL, NULL};                                            \
        comm = coll_dcp_comm(comm);                                                                \
        coll_account_enter(COLL_ACCOUNT_collective);                                               \
        bool routed = is_routed(COLL_OPERATION_##operation, comm);                                 \
        int code = MPI_SUCCESS;                                                                    \
        if (routed)                                                                                \
            code = sent;                                                                           \
        if (routed && code == MPI_SUCCESS)                                                         \
            code = received;                                                                       \
        if (code == MPI_SUCCESS)                                                                   \
            code = routed ? ours : theirs;                                                         \
        free(to.counts);                                                                           \
        free(from.counts);                                                                         \
        coll_account_leave(COLL_ACCOUNT_collective);                                               \
        return code;                                                                               \
    } while (0)
#define NONE MPI_SUCCESS

int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                MPI_Comm comm) {
    ROUTE_BY_COUNTS(GATHER,
                    PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                 recvtype, root, comm),
                    NONE, widen(&from, is_at(root, comm), recvcounts, displs, comm),
                    COLL_Gatherv(sendbuf, sendcount, sendtype, recvbuf, from.counts, from.places,
                                 recvtype, root, comm));
}

int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                 MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm) {
    ROUTE_BY_COUNTS(SCATTER,
                    PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                  recvtype, root, comm),
                    widen(&to, is_at(root, comm), sendcounts, displs, comm), NONE,
                    COLL_Scatterv(sendbuf, to.counts, to.places, sendtype, recvbuf, recvcount,
                                  recvtype, root, comm));
}

int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                   MPI_Comm comm) {
    ROUTE_BY_COUNTS(
        ALLGATHER,
        PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
        NONE, widen(&from, true, recvcounts, displs, comm),
        COLL_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, from.counts, from.places, recvtype,
                        comm));
}

int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                  MPI_Datatype recvtype, MPI_Comm comm) {
    ROUTE_BY_COUNTS(ALLTOALL,
                    PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                   rdispls, recvtype, comm),
                    widen(&to, sendbuf != MPI_IN_PLACE, sendcounts, sdispls, comm),
                    widen(&from, true, recvcounts, rdispls, comm),
                    COLL_Alltoallv(sendbuf, to.counts, to.places, sendtype, recvbuf, from.counts,
                                   from.places, recvtype, comm));
}

int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    ROUTE_BY_COUNTS(REDUCE_SCATTER,
                    PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm), NONE,
                    widen(&from, true, recvcounts, NULL, comm),
                    COLL_Reduce_scatter(sendbuf, recvbuf, from.counts, type, op, comm));
}
