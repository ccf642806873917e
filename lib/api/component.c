/* SPDX-License-Identifier: BSD-3-Clause */
/* The public entries for a component of the MPI library that passes its collectives to libcoll. */
#include "config.h"

#include "coll_component.h"
#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/call/request.h"
#include "lib/comm/settings.h"
#include "lib/comm/setup.h"
#include "lib/report/record.h"
#include "lib/report/report.h"
#include "lib/topology/graph.h"
#include "lib/tuning/state.h"

int COLL_Check_settings(char text[], size_t size) {
    *text = '\0';
    coll_error_divert(text, size);
    int code = coll_settings_check();
    coll_error_divert(NULL, 0);
    return code;
}

/*
 * Sets up MPI_COMM_WORLD and saves the result as the job's facts, so that the set-ups of the job's
 * other communicators send no messages.
 */
static int set_up_world(void) {
    coll_comm *world;
    int code = coll_comm_get(MPI_COMM_WORLD, &world);
    if (code != MPI_SUCCESS)
        return code;
    const coll_state *state = coll_state_of(world);
    coll_setup_keep_job(state->common, state->settings);
    return coll_comm_forget(MPI_COMM_WORLD);
}

int COLL_Setup_job(const COLL_Transport *transport) {
    MPI_Errhandler before;
    coll_report_start_later();
    int code = PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    coll_setup_begin_job(transport);
    if (code == MPI_SUCCESS)
        code = set_up_world();
    if (code != MPI_SUCCESS)
        coll_setup_begin_job(NULL);
    (void)PMPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    (void)PMPI_Errhandler_free(&before);
    return code;
}

double COLL_Timeout(MPI_Comm comm) {
    const coll_comm *own = coll_comm_find(comm);
    bool disabled = false;
    double seconds = 0;
    if (own)
        return own->wait.timeout;
    /* Errors of these settings have been reported in MPI_Init. */
    (void)coll_env_switch("COLL_DISABLE", &disabled);
    (void)coll_env_seconds("COLL_TIMEOUT", &seconds);
    return disabled ? 0 : seconds;
}

int COLL_Timed_out(const char *name, double seconds) {
    return coll_wait_late(name, seconds);
}

int COLL_Degrees(MPI_Comm comm, int *in, int *out) {
    return coll_raise(comm, coll_graph_degrees(comm, in, out));
}

int COLL_Return_errors(int returned) {
    return coll_error_return(returned);
}

int COLL_Advance(int (*is_complete)(MPI_Request request)) {
    return coll_request_advance(is_complete);
}

int COLL_Report_start(int report, const char *record) {
    if (!report && !record) {
        coll_report_end_recording();
        return MPI_SUCCESS;
    }
    return coll_report_start(report, record);
}

void COLL_Report_aside(const char *why) {
    coll_report_set_aside(why);
}

uint64_t COLL_Report_begin(void) {
    return coll_report_begin();
}

void COLL_Report_end(uint64_t began, int code, int operation, int started,
                     const COLL_Report_amount *amount, MPI_Comm comm) {
    coll_report_end(began, code, (coll_operation)operation,
                    started ? COLL_REPORT_NONBLOCKING : COLL_REPORT_BLOCKING, amount, comm);
}

int COLL_Report_operation(const char *name) {
    coll_operation found = COLL_OPERATION_BARRIER;
    (void)coll_find_operation(name, &found);
    return (int)found;
}

int COLL_Is_complete(struct COLL_Pending *request) {
    return request->stage == COLL_REQUEST_COMPLETE;
}
