/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's blocking messages. While libcoll's nonblocking collectives are under way, a rank
 * that waits for a message inside the MPI library would not advance them, perhaps for ever: another
 * rank may wait for such a collective before it sends the message. So blocking messages are then
 * started as nonblocking ones, and the rank advances the collectives while it waits for them.
 */
#include "config.h"

#include "cdcp/pmpi/account.h"
#include "cdcp/pmpi/mpi_all.h"
#include "cdcp/pmpi/requests.h"
#include "lib/base/error.h"
#include "lib/report/record.h"

#include <limits.h>
#include <stdlib.h>

/*
 * The body of a call: evaluates OTHERS while libcoll's collectives are under way, else THEIRS, the
 * MPI library's own function.
 */
#define PASS_OR(theirs, others)                                                                    \
    do {                                                                                           \
        comm = coll_dcp_comm(comm);                                                                \
        coll_account_enter(COLL_ACCOUNT_point);                                                    \
        int code = coll_request_any_under_way() ? others : theirs;                                 \
        coll_account_leave(COLL_ACCOUNT_point);                                                    \
        return code;                                                                               \
    } while (0)

/* Like PASS_OR, but OTHERS starts REQUEST. Waits until REQUEST is complete, and sets STATUS. */
#define PASS(theirs, others, status)                                                               \
    do {                                                                                           \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
        PASS_OR(theirs, wait_for_started(others, &request, status));                               \
    } while (0)

/* Waits for REQUEST, whose start has returned CODE. */
static int wait_for_started(int code, MPI_Request *request, MPI_Status *status) {
    return code == MPI_SUCCESS ? coll_requests_wait_for(request, status) : code;
}

#define COUNT int
#define FORM(name) name
#include "cdcp/pmpi/message_entries.h"

#ifdef HAVE_MPI_ALLREDUCE_C
#undef COUNT
#undef FORM
#define COUNT MPI_Count
#define FORM(name) WITH_C(name)
#define WITH_C(name) name##_c
#include "cdcp/pmpi/message_entries.h"
#endif

/*
 * Evaluates TEST, which sets FLAG, until there is a message. Advances the collectives between the
 * tests.
 */
#define POLL(test)                                                                                 \
    coll_requests_wait wait;                                                                       \
    int flag = 0, code;                                                                            \
    coll_requests_begin(&wait);                                                                    \
    while ((code = test) == MPI_SUCCESS && !flag)                                                  \
        coll_requests_pause(&wait);                                                                \
    return code

static int probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    POLL(PMPI_Iprobe(from, tag, comm, &flag, status));
}

static int mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    POLL(PMPI_Improbe(from, tag, comm, &flag, message, status));
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    PASS_OR(PMPI_Probe(from, tag, comm, status), probe(from, tag, comm, status));
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    PASS_OR(PMPI_Mprobe(from, tag, comm, message, status),
            mprobe(from, tag, comm, message, status));
}

/* A program may poll for a message instead of waiting for it. */
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    coll_requests_advance();
    comm = coll_dcp_comm(comm);
    coll_account_enter(COLL_ACCOUNT_point);
    int code = PMPI_Iprobe(from, tag, comm, flag, status);
    coll_account_leave(COLL_ACCOUNT_point);
    return code;
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                MPI_Status *status) {
    coll_requests_advance();
    comm = coll_dcp_comm(comm);
    coll_account_enter(COLL_ACCOUNT_point);
    int code = PMPI_Improbe(from, tag, comm, flag, message, status);
    coll_account_leave(COLL_ACCOUNT_point);
    return code;
}
