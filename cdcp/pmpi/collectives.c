/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that libcoll takes. Allreduces and some nonblocking collectives go to dedicated
 * processors. All blocking ones go to libcoll's algorithms if COLL_WRAP or their own settings ask
 * for it. Other nonblocking and persistent ones are left to the MPI library, because their requests
 * are mixed with the program's other requests.
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
#include "lib/report/record.h"

#include <stdlib.h>

bool coll_routed[COLL_OPERATIONS];

/*
 * Returns the kind of a call: SUCH if dedicated processors would serve it in any job, because it
 * fits the smallest limit that a job can have. It has COUNT elements for each of BLOCKS ranks, and
 * reduces unless OP is MPI_OP_NULL.
 */
static coll_account_kind kind_if_served(coll_account_kind such, MPI_Count count, int blocks,
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
    return kind_if_served(such, count, 1, type, op);
}

static coll_account_kind kind_of_blocks(MPI_Count count, MPI_Datatype type, MPI_Op op,
                                        MPI_Comm comm) {
    int ranks = 1;
    if (coll_account_on && (comm == MPI_COMM_NULL || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS))
        return COLL_ACCOUNT_collective;
    return kind_if_served(COLL_ACCOUNT_started, count, ranks, type, op);
}

/*
 * Registers a communicator that got no number when it was created, by MPI_Comm_idup, in its first
 * blocking allreduce: nonblocking calls may not wait for the other ranks. Returns whether it was
 * registered now.
 */
static bool is_registered_now(MPI_Comm comm) {
    return !coll_dcp_knows(comm) && coll_raise(comm, coll_dcp_register(comm)) == MPI_SUCCESS;
}

/* Waits for SERVED, whose post has returned CODE. */
static int wait_for_served(int code, coll_dcp_request *served, MPI_Comm comm) {
    if (served) {
        coll_account_served();
        coll_report_served();
        code = coll_dcp_wait(&served, &comm);
    }
    return coll_raise(comm, code);
}

/*
 * Notes the MPI library's REQUEST of a collective that counts as KIND and whose start has returned
 * CODE.
 */
static int note_request(int code, MPI_Request *request, coll_account_kind kind) {
    if (code == MPI_SUCCESS && kind == COLL_ACCOUNT_started)
        coll_account_note(*request);
    return code;
}

/*
 * Ends the recording of a call that began at BEGAN and has returned CODE. AMOUNT is the count and
 * the type of this rank's data or block, in parentheses; it may be invalid if the call has failed.
 */
#define EACH(...) __VA_ARGS__
#define END_RECORDING(operation, kind, amount)                                                     \
    do {                                                                                           \
        if (began && code == MPI_SUCCESS)                                                          \
            coll_report_end(began, code, COLL_OPERATION_##operation, kind, EACH amount, comm);     \
        else if (began)                                                                            \
            coll_report_end_wait(began, NULL);                                                     \
    } while (0)

/*
 * The body of a nonblocking collective: posts it as SERVED if dedicated processors take it;
 * otherwise the MPI library runs it. It counts as KIND, and in the report as OPERATION with AMOUNT.
 */
#define SERVE(operation, amount, kind, posts, theirs)                                              \
    do {                                                                                           \
        coll_dcp_request *served = NULL;                                                           \
        comm = coll_dcp_comm(comm);                                                                \
        const coll_account_kind counts_as = kind;                                                  \
        const uint64_t began = coll_report_begin();                                                \
        coll_account_enter(counts_as);                                                             \
        int code = request ? posts : MPI_SUCCESS;                                                  \
        if (served) {                                                                              \
            coll_account_served();                                                                 \
            coll_report_served();                                                                  \
            *request = coll_requests_handle(served);                                               \
        } else                                                                                     \
            code = code == MPI_SUCCESS ? note_request(theirs, request, counts_as)                  \
                                       : coll_raise(comm, code);                                   \
        END_RECORDING(operation, COLL_REPORT_NONBLOCKING, amount);                                 \
        coll_account_leave(counts_as);                                                             \
        return code;                                                                               \
    } while (0)

#define END_BLOCKING(operation, amount) END_RECORDING(operation, COLL_REPORT_BLOCKING, amount)

/* AMOUNT of a rank that sends or, in place, has its data in its receive buffer; the opposite; and
 * of one whose block has a count of its own. */
#define SENDS                                                                                      \
    (sendbuf == MPI_IN_PLACE ? recvcount : sendcount, sendbuf == MPI_IN_PLACE ? recvtype : sendtype)
#define RECEIVES                                                                                   \
    (recvbuf == MPI_IN_PLACE ? sendcount : recvcount, recvbuf == MPI_IN_PLACE ? sendtype : recvtype)
#define SENDS_OWN                                                                                  \
    (sendbuf == MPI_IN_PLACE ? 0 : sendcount, sendbuf == MPI_IN_PLACE ? MPI_BYTE : sendtype)
#define RECEIVES_OWN                                                                               \
    (recvbuf == MPI_IN_PLACE ? 0 : recvcount, recvbuf == MPI_IN_PLACE ? MPI_BYTE : recvtype)

/*
 * The body of a blocking collective: libcoll's NAME or the MPI library's, with the same arguments.
 */
#define ROUTE(operation, name, amount, ...)                                                        \
    do {                                                                                           \
        comm = coll_dcp_comm(comm);                                                                \
        coll_account_enter(COLL_ACCOUNT_collective);                                               \
        const uint64_t began = coll_report_begin();                                                \
        int code = coll_routed[COLL_OPERATION_##operation] ? COLL_##name(__VA_ARGS__)              \
                                                           : FORM(PMPI_##name)(__VA_ARGS__);       \
        END_BLOCKING(operation, amount);                                                           \
        coll_account_leave(COLL_ACCOUNT_collective);                                               \
        return code;                                                                               \
    } while (0)

/* Counts and displacements in libcoll's types. */
typedef struct vectors {
    MPI_Count *counts;
    MPI_Aint *places;
} vectors;

/*
 * Returns whether libcoll runs OPERATION on COMM. Calls on intercommunicators go directly to the
 * MPI library, because libcoll would only pass them on.
 */
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
 * The same as ROUTE for collectives with a count for each rank. SENT and RECEIVED first convert the
 * vectors TO and FROM for libcoll's arguments.
 */
#define ROUTE_BY_COUNTS(operation, amount, theirs, sent, received, ours)                           \
    do {                                                                                           \
        vectors to = {NULL, NULL}, from = {NULL, NULL};                                            \
        comm = coll_dcp_comm(comm);                                                                \
        coll_account_enter(COLL_ACCOUNT_collective);                                               \
        const uint64_t began = coll_report_begin();                                                \
        bool routed = is_routed(COLL_OPERATION_##operation, comm);                                 \
        int code = MPI_SUCCESS;                                                                    \
        if (routed)                                                                                \
            code = sent;                                                                           \
        if (routed && code == MPI_SUCCESS)                                                         \
            code = received;                                                                       \
        if (code == MPI_SUCCESS)                                                                   \
            code = routed ? ours : theirs;                                                         \
        END_BLOCKING(operation, amount);                                                           \
        free(to.counts);                                                                           \
        free(from.counts);                                                                         \
        coll_account_leave(COLL_ACCOUNT_collective);                                               \
        return code;                                                                               \
    } while (0)
#define NONE MPI_SUCCESS

/* --- The entry points --- */

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
    ROUTE(BARRIER, Barrier, (0, MPI_BYTE), comm);
}

/* MPI 4's forms with large counts. */
#ifdef HAVE_MPI_ALLREDUCE_C
#undef COUNT
#undef PLACE
#undef FORM
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define FORM(name) name##_c
#include "cdcp/pmpi/collective_entries.h"
#endif
