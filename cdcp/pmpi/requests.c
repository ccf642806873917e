/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with one request: ours, of a dedicated processor, or the MPI library's. */
#include "config.h"

#include "cdcp/pmpi/requests.h"

#include "cdcp/pmpi/account.h"
#include "lib/base/error.h"

/* Sets STATUS as for a collective, which has no message. The error field is for arrays only. */
static void set_empty_status(MPI_Status *status) {
    if (status != MPI_STATUS_IGNORE)
        *status = (MPI_Status){
            .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = status->MPI_ERROR};
}

static inline int complete_request(MPI_Request *request, MPI_Status *status, MPI_Comm *comm) {
    coll_dcp_request *served = coll_requests_served(*request);
    int code = coll_dcp_wait(&served, comm);
    if (!served)
        *request = MPI_REQUEST_NULL;
    set_empty_status(status);
    return code;
}

int coll_requests_complete(MPI_Request *request, MPI_Status *status, MPI_Comm *comm) {
    return complete_request(request, status, comm);
}

static int complete_alone(MPI_Request *request, MPI_Status *status) {
    MPI_Comm comm;
    coll_account_enter(COLL_ACCOUNT_started);
    int code = complete_request(request, status, &comm);
    coll_raise(comm, code);
    coll_account_leave(COLL_ACCOUNT_started);
    return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (coll_requests_own_at(request))
        return complete_alone(request, status);
    coll_account_kind kind = coll_account_waiting(1, request, true);
    coll_account_enter(kind);
    int code = PMPI_Wait(request, status);
    coll_account_leave(kind);
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (coll_requests_own_at(request)) {
        *flag = coll_dcp_ready(coll_requests_served(*request));
        return *flag ? complete_alone(request, status) : MPI_SUCCESS;
    }
    coll_account_kind kind = coll_account_waiting(1, request, false);
    coll_account_enter(kind);
    int code = PMPI_Test(request, flag, status);
    coll_account_leave(kind);
    return code;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    if (!coll_requests_own(request))
        return PMPI_Request_get_status(request, flag, status);
    *flag = coll_dcp_ready(coll_requests_served(request));
    if (*flag)
        set_empty_status(status);
    return MPI_SUCCESS;
}

/* The program must complete an active collective by a wait or test: MPI 3.1, section 5.12. */
int MPI_Request_free(MPI_Request *request) {
    if (!coll_requests_own_at(request))
        return PMPI_Request_free(request);
    coll_dcp_request *served = coll_requests_served(*request);
    MPI_Comm comm = coll_dcp_request_comm(served);
    if (coll_dcp_active(served))
        return coll_raise(comm, MPI_ERR_REQUEST);
    *request = MPI_REQUEST_NULL;
    coll_dcp_release(&served);
    return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request *request) {
    return coll_requests_own_at(request)
               ? coll_raise(coll_dcp_request_comm(coll_requests_served(*request)), MPI_ERR_REQUEST)
               : PMPI_Cancel(request);
}

int MPI_Start(MPI_Request *request) {
    if (!coll_requests_own_at(request))
        return PMPI_Start(request);
    coll_account_enter(COLL_ACCOUNT_started);
    coll_account_served();
    MPI_Comm comm = coll_dcp_request_comm(coll_requests_served(*request));
    int code = coll_raise(comm, coll_dcp_begin(coll_requests_served(*request)));
    coll_account_leave(COLL_ACCOUNT_started);
    return code;
}

#ifdef OPEN_MPI
/*
 * After a wait, Open MPI's Fortran binding reads the handle from the request itself, in which
 * coll_dcp_request has room for it. The handle doesn't change as long as the request has its
 * address, so it is written once.
 */
static void note_handle(coll_dcp_request *request, MPI_Fint handle) {
    MPI_Fint *room = (MPI_Fint *)request;
    if (room[0] != handle)
        for (int i = 0; i < COLL_DCP_ROOM; i++)
            room[i] = handle;
}

MPI_Fint MPI_Request_c2f(MPI_Request request) {
    if (!coll_requests_own(request))
        return PMPI_Request_c2f(request);
    MPI_Fint handle = coll_requests_number(coll_requests_served(request));
    note_handle(coll_requests_served(request), handle);
    return handle;
}

MPI_Request MPI_Request_f2c(MPI_Fint handle) {
    if (handle < COLL_REQUESTS_FIRST)
        return PMPI_Request_f2c(handle);
    return coll_requests_handle(coll_requests_numbered(handle));
}
#endif
