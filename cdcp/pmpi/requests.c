/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with one request: ours or the MPI library's. */
#include "config.h"

#include "cdcp/pmpi/requests.h"

#include "cdcp/pmpi/account.h"
#include "coll.h"
#include "lib/base/error.h"

/*
 * Sets STATUS as for a collective, which has no message. Keeps the error field, which only
 * functions with arrays of requests set.
 */
static void set_empty_status(MPI_Status *status) {
    if (status != MPI_STATUS_IGNORE)
        *status = (MPI_Status){
            .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = status->MPI_ERROR};
}

bool coll_requests_active(MPI_Request request) {
    const void *address = coll_requests_address(request);
    if (!coll_nonblocking_owns(address))
        return coll_dcp_active(address);
    return coll_request_active(((const coll_nonblocking *)address)->request);
}

bool coll_requests_ready(MPI_Request request) {
    void *address = coll_requests_address(request);
    if (!coll_nonblocking_owns(address))
        return coll_dcp_ready(address);
    const coll_request *libcoll = ((const coll_nonblocking *)address)->request;
    return libcoll->stage == COLL_REQUEST_COMPLETE || libcoll->stage == COLL_REQUEST_IDLE;
}

static MPI_Comm comm_of(MPI_Request request) {
    const void *address = coll_requests_address(request);
    return coll_nonblocking_owns(address) ? coll_nonblocking_comm(address)
                                          : coll_dcp_request_comm(address);
}

/* Waits for and completes SERVED, a request to a dedicated processor. */
static int complete_served(MPI_Request *request, coll_dcp_request *served, MPI_Comm *comm) {
    if (coll_request_any_under_way()) {
        coll_requests_wait wait;
        coll_requests_begin(&wait);
        while (!coll_dcp_ready(served))
            coll_requests_pause(&wait);
    }
    int code = coll_dcp_wait(&served, comm);
    if (!served)
        *request = MPI_REQUEST_NULL;
    return code;
}

static int complete_nonblocking(MPI_Request *request, coll_nonblocking *record, MPI_Comm *comm) {
    if (!coll_request_active(record->request))
        return MPI_SUCCESS;
    bool persistent = record->request->persistent;
    int code = coll_nonblocking_complete(record, comm);
    if (!persistent)
        *request = MPI_REQUEST_NULL;
    return code;
}

int coll_requests_complete(MPI_Request *request, MPI_Status *status, MPI_Comm *comm) {
    void *address = coll_requests_address(*request);
    int code = coll_nonblocking_owns(address) ? complete_nonblocking(request, address, comm)
                                              : complete_served(request, address, comm);
    set_empty_status(status);
    return code;
}

int coll_requests_wait_for(MPI_Request *request, MPI_Status *status) {
    if (!coll_request_any_under_way())
        return PMPI_Wait(request, status);
    coll_requests_wait wait;
    coll_requests_begin(&wait);
    for (int flag = 0;;) {
        int code = PMPI_Test(request, &flag, status);
        if (code != MPI_SUCCESS || flag)
            return code;
        coll_requests_pause(&wait);
    }
}

static int complete_alone(MPI_Request *request, MPI_Status *status) {
    MPI_Comm comm;
    coll_account_enter(COLL_ACCOUNT_started);
    int code = coll_requests_complete(request, status, &comm);
    if (code != MPI_SUCCESS)
        coll_raise(comm, code);
    coll_account_leave(COLL_ACCOUNT_started);
    return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (coll_requests_own_at(request))
        return complete_alone(request, status);
    coll_account_kind kind = coll_account_waiting(1, request, true);
    coll_account_enter(kind);
    int code = coll_requests_wait_for(request, status);
    coll_account_leave(kind);
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    coll_requests_advance();
    if (coll_requests_own_at(request)) {
        *flag = coll_requests_ready(*request);
        return *flag ? complete_alone(request, status) : MPI_SUCCESS;
    }
    coll_account_kind kind = coll_account_waiting(1, request, false);
    coll_account_enter(kind);
    int code = PMPI_Test(request, flag, status);
    coll_account_leave(kind);
    return code;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    coll_requests_advance();
    if (!coll_requests_own(request))
        return PMPI_Request_get_status(request, flag, status);
    *flag = coll_requests_ready(request);
    if (*flag)
        set_empty_status(status);
    return MPI_SUCCESS;
}

/* The program must complete an active collective by a wait or test: MPI 3.1, section 5.12. */
int MPI_Request_free(MPI_Request *request) {
    if (!coll_requests_own_at(request))
        return PMPI_Request_free(request);
    if (coll_requests_active(*request))
        return coll_raise(comm_of(*request), MPI_ERR_REQUEST);
    void *address = coll_requests_address(*request);
    *request = MPI_REQUEST_NULL;
    if (coll_nonblocking_owns(address)) {
        coll_nonblocking *record = address;
        coll_request_free(record->request);
        coll_nonblocking_free(record);
    } else {
        coll_dcp_request *served = address;
        MPI_Comm comm = coll_dcp_request_comm(served);
        return coll_raise(comm, coll_dcp_release(&served));
    }
    return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request *request) {
    return coll_requests_own_at(request) ? coll_raise(comm_of(*request), MPI_ERR_REQUEST)
                                         : PMPI_Cancel(request);
}

int MPI_Start(MPI_Request *request) {
    if (!coll_requests_own_at(request))
        return PMPI_Start(request);
    void *address = coll_requests_address(*request);
    coll_account_enter(COLL_ACCOUNT_started);
    int code;
    if (coll_nonblocking_owns(address)) {
        code = COLL_Start(&((coll_nonblocking *)address)->request);
    } else {
        coll_account_served();
        MPI_Comm comm = coll_dcp_request_comm(address);
        code = coll_raise(comm, coll_dcp_begin(address));
    }
    coll_account_leave(COLL_ACCOUNT_started);
    return code;
}

#ifdef OPEN_MPI
/*
 * After a wait, Open MPI's Fortran binding reads the handle from the request itself, which begins
 * with room for it. The handle depends only on the request's address, so it is written once.
 */
static void note_handle(MPI_Fint room[COLL_DCP_ROOM], MPI_Fint handle) {
    if (room[0] != handle)
        for (int i = 0; i < COLL_DCP_ROOM; i++)
            room[i] = handle;
}

MPI_Fint MPI_Request_c2f(MPI_Request request) {
    if (!coll_requests_own(request))
        return PMPI_Request_c2f(request);
    void *address = coll_requests_address(request);
    MPI_Fint handle = coll_requests_number(address);
    note_handle(address, handle);
    return handle;
}

MPI_Request MPI_Request_f2c(MPI_Fint handle) {
    void *address = coll_requests_numbered(handle);
    return address ? coll_requests_handle(address) : PMPI_Request_f2c(handle);
}
#endif

/* The integers of the MPI ABI. MPICH's own handles are integers already. */
#if HAVE_DECL_MPI_COMM_TOINT && !defined MPICH
int MPI_Request_toint(MPI_Request request) {
    return coll_requests_own(request) ? coll_requests_number(request) : PMPI_Request_toint(request);
}

MPI_Request MPI_Request_fromint(int handle) {
    void *address = coll_requests_numbered(handle);
    return address ? coll_requests_handle(address) : PMPI_Request_fromint(handle);
}
#endif
