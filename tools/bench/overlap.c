/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/bench/overlap.h"

#include "app/agreement.h"
#include "app/clocks.h"
#include "app/stats.h"

#include <coll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Pieces of computation between the tests of OVERLAP_POLLED. */
enum { PIECES = 8 };

const char *overlap_name(overlap_scheme scheme) {
    static const char *const names[] = {"blocking", "nbc", "nbc-polled", "dcp"};
    return names[scheme];
}

void overlap_compute(double steps) {
    volatile double x = 1;
    for (double i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-9;
}

static double median_clock_cost(void) {
    enum { SAMPLES = 1001 };
    double samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        double start = app_seconds();
        samples[i] = app_seconds() - start;
    }
    return app_stats_median(samples, SAMPLES);
}

overlap_machine overlap_calibrate(void) {
    enum { SAMPLES = 21 };
    const double steps = 20000;
    double samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        double start = app_seconds();
        overlap_compute(steps);
        samples[i] = app_seconds() - start;
    }
    return (overlap_machine){.steps_per_second = steps / app_stats_median(samples, SAMPLES),
                             .clock_seconds = median_clock_cost()};
}

/* A repetition in progress. */
typedef struct repetition {
    const overlap_call *call;
    const overlap_machine *machine;
    double *from, *to;
    double inside; /* s in calls so far */
    MPI_Request request;
    DCP_Request served;
} repetition;

static int begin_allreduce(repetition *r) {
    const overlap_call *call = r->call;
    if (call->scheme == OVERLAP_BLOCKING)
        return MPI_Allreduce(r->from, r->to, call->doubles, MPI_DOUBLE, MPI_SUM, call->comm);
    if (call->scheme == OVERLAP_DCP)
        return DCP_IAllreduce(r->from, r->to, call->doubles, MPI_DOUBLE, MPI_SUM, call->comm,
                              &r->served);
    return MPI_Iallreduce(r->from, r->to, call->doubles, MPI_DOUBLE, MPI_SUM, call->comm,
                          &r->request);
}

static int poll_allreduce(repetition *r) {
    int flag;
    return MPI_Test(&r->request, &flag, MPI_STATUS_IGNORE);
}

static int end_allreduce(repetition *r) {
    if (r->call->scheme == OVERLAP_DCP)
        return DCP_Wait(&r->served);
    return MPI_Wait(&r->request, MPI_STATUS_IGNORE);
}

static int time_call(repetition *r, int (*part)(repetition *r)) {
    double start = app_seconds();
    int code = part(r);
    r->inside += app_seconds() - start - r->machine->clock_seconds;
    return code;
}

static int run_repetition(repetition *r) {
    const overlap_call *call = r->call;
    double steps = call->compute * r->machine->steps_per_second;
    int pieces = call->scheme == OVERLAP_POLLED ? PIECES : 1;
    int code = time_call(r, begin_allreduce);
    for (int i = 0; i < pieces && code == MPI_SUCCESS; i++) {
        overlap_compute(steps / pieces);
        if (call->scheme == OVERLAP_POLLED)
            code = time_call(r, poll_allreduce);
    }
    bool ends = call->scheme != OVERLAP_BLOCKING;
    return code == MPI_SUCCESS && ends ? time_call(r, end_allreduce) : code;
}

static int average_over_ranks(double samples[], int count, MPI_Comm comm) {
    int code = MPI_Reduce(app_rank(comm) == 0 ? MPI_IN_PLACE : samples, samples, count, MPI_DOUBLE,
                          MPI_SUM, 0, comm);
    const int ranks = app_ranks(comm);
    for (int i = 0; i < count; i++)
        samples[i] /= ranks;
    return code;
}

int overlap_run(const overlap_call *call, const overlap_machine *machine, double samples[]) {
    double *from = calloc((size_t)call->doubles, sizeof *from);
    double *to = malloc((size_t)call->doubles * sizeof *to);
    int code = from && to ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int i = -call->warmups; i < call->repetitions && code == MPI_SUCCESS; i++) {
        repetition r = {
            .call = call, .machine = machine, .from = from, .to = to, .request = MPI_REQUEST_NULL};
        code = run_repetition(&r);
        if (i >= 0)
            samples[i] = r.inside;
    }
    free(from);
    free(to);
    return code == MPI_SUCCESS ? average_over_ranks(samples, call->repetitions, call->comm) : code;
}

/* Aborts the job on an error, because other ranks wait in calls that need the failed rank. */
static void abort_on_error(const char *program, int code) {
    app_problem problem = {""};
    if (code == MPI_SUCCESS)
        return;
    app_mpi(&problem, code);
    app_abort(program, "%s", problem.text);
}

static int work_on(MPI_Comm comm, dcp_job_work *work, void *context) {
    int code = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return code == MPI_SUCCESS && work ? work(comm, context) : code;
}

static int run_without(dcp_job_work *work, void *context) {
    MPI_Comm all;
    int code = MPI_Comm_dup(MPI_COMM_WORLD, &all);
    if (code == MPI_SUCCESS)
        code = work_on(all, work, context);
    return code == MPI_SUCCESS ? MPI_Comm_free(&all) : code;
}

/* Starts DCPs; ends the program if that fails. */
static MPI_Comm start_dcps(const char *program, const char *spec) {
    app_problem problem = {""};
    MPI_Comm app = MPI_COMM_NULL;
    app_mpi(&problem, DCP_Start(spec, &app));
    app_agree_or_end(MPI_COMM_WORLD, program, &problem);
    return app;
}

void dcp_job_run(const char *program, const char *spec, dcp_job_work *work, void *context) {
    if (!spec) {
        abort_on_error(program, run_without(work, context));
        return;
    }
    MPI_Comm app = start_dcps(program, spec);
    if (app == MPI_COMM_NULL) {
        abort_on_error(program, DCP_Serve());
        return;
    }
    abort_on_error(program, work_on(app, work, context));
    abort_on_error(program, DCP_Stop());
}
