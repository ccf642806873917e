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

/* What a call does: libcoll's NAME or the MPI library's, with the same arguments. */
#define ROUTE(operation, name, ...)                                                                \
    do {                                                                                           \
        comm = coll_dcp_comm(comm);                                                                \
        coll_account_enter(COLL_ACCOUNT_collective);                                               \
        int code = coll_routed[COLL_OPERATION_##operation] ? COLL_##name(__VA_ARGS__)              \
                                                           : FORM(PMPI_##name)(__VA_ARGS__);       \
        coll_account_leave(COLL_ACCOUNT_collective);                                               \
        return code;                                                                               \
    } while (0)

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

/* --- The entries --- */

#define COUNT int
#define PLACE int
#define FORM(name) name
#include "cdcp/pmpi/collective_entries.h"

#ifdef HAVE_MPIX_ALLREDUCE_INIT
int MPIX_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    return allreduce_init(PMPIX_Allreduce_init, sendbuf, recvbuf, count, type, op, comm, info,
                          request);
}
#endif

int MPI_Barrier(MPI_Comm comm) {
    ROUTE(BARRIER, Barrier, comm);
}

/* MPI 4's, with large counts. */
#ifdef HAVE_MPI_ALLREDUCE_C
#undef COUNT
#undef PLACE
#undef FORM
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define FORM(name) name##_c
#include "cdcp/pmpi/collective_entries.h"
#endif
