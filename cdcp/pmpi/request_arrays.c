/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls with several requests. If some of these are ours, they are handled here, while the MPI
 * library sees MPI_REQUEST_NULL instead of them. While libcoll's nonblocking collectives are under
 * way, a call that waits tests repeatedly instead, and advances the collectives between the tests.
 */
#include "config.h"

#include "cdcp/pmpi/account.h"
#include "cdcp/pmpi/requests.h"
#include "lib/base/error.h"

#include <stdlib.h>
#include <string.h>

static bool any_ours(int count, const MPI_Request requests[]) {
    if ((coll_dcp_arena.size == 0 && coll_nonblocking_arena.size == 0) || !requests)
        return false;
    for (int i = 0; i < count; i++)
        if (coll_requests_own(requests[i]))
            return true;
    return false;
}

static bool is_active(MPI_Request request) {
    return coll_requests_own(request) && coll_requests_active(request);
}

/* The program's array REQUESTS, from which our requests are removed, and ALL, a copy with them. */
typedef struct hiding {
    int count;
    MPI_Request *requests, *all;
    MPI_Request few[32];
} hiding;

static int hide_ours(hiding *hidden, int count, MPI_Request requests[]) {
    const int enough = sizeof hidden->few / sizeof *hidden->few;
    size_t bytes = (size_t)count * sizeof *requests;
    hidden->count = count;
    hidden->requests = requests;
    hidden->all = count <= enough ? hidden->few : malloc(bytes);
    if (!hidden->all)
        return coll_error(MPI_ERR_NO_MEM, "no memory for %d requests", count);
    memcpy(hidden->all, requests, bytes);
    for (int i = 0; i < count; i++)
        if (coll_requests_own(requests[i]))
            requests[i] = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static void show_ours(hiding *hidden) {
    for (int i = 0; i < hidden->count; i++)
        if (coll_requests_own(hidden->all[i]))
            hidden->requests[i] = hidden->all[i];
    if (hidden->all != hidden->few)
        free(hidden->all);
}

/*
 * The outcome of our requests in one call: the first error, and the communicator on which it is
 * raised.
 */
typedef struct outcome {
    int error;
    MPI_Comm comm;
} outcome;

/* Completes *REQUEST, one of ours, and sets STATUSES[AT]. */
static void complete_one(MPI_Request *request, MPI_Status statuses[], int at, outcome *all) {
    MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[at];
    MPI_Comm comm;
    int error = coll_requests_complete(request, status, &comm);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = error;
    if (error != MPI_SUCCESS && all->error == MPI_SUCCESS)
        *all = (outcome){error, comm};
}

/*
 * Clears the errors of all STATUSES: if a call returns MPI_ERR_IN_STATUS, the program reads the
 * error of each status.
 */
static void clear_errors(int count, MPI_Status statuses[]) {
    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
}

/*
 * Returns the result of a call. CODE is the result of the MPI library's function for its own
 * requests.
 */
static int result_of_call(int code, const outcome *all) {
    return all->error == MPI_SUCCESS ? code : coll_raise(all->comm, MPI_ERR_IN_STATUS);
}

static int complete_all(int code, int count, MPI_Request requests[], MPI_Status statuses[]) {
    outcome all = {MPI_SUCCESS, MPI_COMM_NULL};
    if (code == MPI_SUCCESS)
        clear_errors(count, statuses);
    for (int i = 0; i < count; i++)
        if (coll_requests_own(requests[i]))
            complete_one(&requests[i], statuses, i, &all);
    return result_of_call(code, &all);
}

static int test_all(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    *flag = 0;
    for (int i = 0; i < count; i++)
        if (is_active(requests[i]) && !coll_requests_ready(requests[i]))
            return MPI_SUCCESS;
    hiding hidden;
    int code = hide_ours(&hidden, count, requests);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Testall(count, requests, flag, statuses);
    show_ours(&hidden);
    return *flag ? complete_all(code, count, requests, statuses) : code;
}

static int wait_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (coll_request_any_under_way()) {
        coll_requests_wait wait;
        coll_requests_begin(&wait);
        for (int flag;;) {
            int code = test_all(count, requests, &flag, statuses);
            if (code != MPI_SUCCESS || flag)
                return code;
            coll_requests_pause(&wait);
        }
    }
    hiding hidden;
    int code = hide_ours(&hidden, count, requests);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Waitall(count, requests, statuses);
    show_ours(&hidden);
    return complete_all(code, count, requests, statuses);
}

static int test_any(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    bool active = false;
    for (int i = 0; i < count; i++) {
        if (!is_active(requests[i]))
            continue;
        active = true;
        if (!coll_requests_ready(requests[i]))
            continue;
        *index = i;
        *flag = 1;
        MPI_Comm comm;
        int code = coll_requests_complete(&requests[i], status, &comm);
        return coll_raise(comm, code);
    }
    hiding hidden;
    int code = hide_ours(&hidden, count, requests);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Testany(count, requests, index, flag, status);
    show_ours(&hidden);
    *flag = *flag && (*index != MPI_UNDEFINED || !active);
    return code;
}

static int test_some(int count, MPI_Request requests[], int *completed, int indices[],
                     MPI_Status statuses[]) {
    hiding hidden;
    int code = hide_ours(&hidden, count, requests);
    if (code != MPI_SUCCESS)
        return code;
    *completed = 0; /* the MPI library leaves it as it is if the arguments are wrong */
    code = PMPI_Testsome(count, requests, completed, indices, statuses);
    show_ours(&hidden);

    outcome all = {MPI_SUCCESS, MPI_COMM_NULL};
    int done = *completed == MPI_UNDEFINED ? 0 : *completed;
    if (code == MPI_SUCCESS)
        clear_errors(done, statuses);
    for (int i = 0; i < count; i++) {
        if (!is_active(requests[i]))
            continue;
        *completed = done;
        if (!coll_requests_ready(requests[i]))
            continue;
        complete_one(&requests[i], statuses, done, &all);
        indices[done++] = i;
        *completed = done;
    }
    return result_of_call(code, &all);
}

static int wait_any(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    coll_requests_wait wait;
    coll_requests_begin(&wait);
    for (int flag;;) {
        int code = test_any(count, requests, index, &flag, status);
        if (code != MPI_SUCCESS || flag)
            return code;
        coll_requests_pause(&wait);
    }
}

static int wait_some(int count, MPI_Request requests[], int *completed, int indices[],
                     MPI_Status statuses[]) {
    coll_requests_wait wait;
    coll_requests_begin(&wait);
    for (;;) {
        int code = test_some(count, requests, completed, indices, statuses);
        if (code != MPI_SUCCESS || *completed != 0)
            return code;
        coll_requests_pause(&wait);
    }
}

/* A call: whether it is handled here, and its kind for the account. */
typedef struct visit {
    bool ours;
    coll_account_kind kind;
} visit;

/* Begins a call. COMPLETES tells whether it completes all requests. */
static visit begin_call(int count, const MPI_Request requests[], bool completes) {
    const bool mixed = any_ours(count, requests), advances = coll_request_any_under_way();
    coll_account_kind kind =
        mixed ? COLL_ACCOUNT_started : coll_account_waiting(count, requests, completes);
    coll_account_enter(kind);
    coll_requests_advance();
    return (visit){mixed || (advances && count > 0 && requests), kind};
}

static int end_call(visit call, int code) {
    coll_account_leave(call.kind);
    return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    visit call = begin_call(count, requests, true);
    return end_call(call, call.ours ? wait_all(count, requests, statuses)
                                    : PMPI_Waitall(count, requests, statuses));
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    visit call = begin_call(count, requests, false);
    return end_call(call, call.ours ? test_all(count, requests, flag, statuses)
                                    : PMPI_Testall(count, requests, flag, statuses));
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    visit call = begin_call(count, requests, false);
    return end_call(call, call.ours ? wait_any(count, requests, index, status)
                                    : PMPI_Waitany(count, requests, index, status));
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    visit call = begin_call(count, requests, false);
    return end_call(call, call.ours ? test_any(count, requests, index, flag, status)
                                    : PMPI_Testany(count, requests, index, flag, status));
}

int MPI_Waitsome(int count, MPI_Request requests[], int *completed, int indices[],
                 MPI_Status statuses[]) {
    visit call = begin_call(count, requests, false);
    return end_call(call, call.ours ? wait_some(count, requests, completed, indices, statuses)
                                    : PMPI_Waitsome(count, requests, completed, indices, statuses));
}

int MPI_Testsome(int count, MPI_Request requests[], int *completed, int indices[],
                 MPI_Status statuses[]) {
    visit call = begin_call(count, requests, false);
    return end_call(call, call.ours ? test_some(count, requests, completed, indices, statuses)
                                    : PMPI_Testsome(count, requests, completed, indices, statuses));
}

int MPI_Startall(int count, MPI_Request requests[]) {
    if (!any_ours(count, requests))
        return PMPI_Startall(count, requests);
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = MPI_Start(&requests[i]);
    return code;
}
