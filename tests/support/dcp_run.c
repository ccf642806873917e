/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tests/support/dcp_run.h"

#include "app/agreement.h"
#include "cdcp/dcp.h"
#include "cdcp/job.h"
#include "tests/support/harness.h"

#include <coll_tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double dcp_run_timeout;
int dcp_run_digits;

bool dcp_run(MPI_Comm world, const char *spec, const char *transport, dcp_work *work,
             void *context) {
    MPI_Comm app;
    setenv("COLL_DCP_TRANSPORT", transport, 1);
    int code = coll_dcp_start(spec, world, &app);
    ck_assert_msg(code == MPI_SUCCESS, "%s", harness_text(code));
    if (coll_the_job.timeout > 0)
        coll_the_job.timeout = dcp_run_timeout;
    if (dcp_run_digits)
        coll_the_job.digits = dcp_run_digits;
    if (app == MPI_COMM_NULL)
        return DCP_Serve() == MPI_SUCCESS;
    MPI_Comm_set_errhandler(app, MPI_ERRORS_RETURN);
    bool good = work(app, context);
    return DCP_Stop() == MPI_SUCCESS && good;
}

bool dcp_run_everywhere(int ranks, int most, dcp_work *work, void *context) {
    static const char *const transports[] = {"shared", "p2p"};
    int rank, all;
    bool good = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    for (int dcps = 1; dcps <= most && ranks + dcps <= all; dcps++) {
        MPI_Comm world;
        char spec[16];
        snprintf(spec, sizeof spec, "%d", dcps);
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks + dcps ? 0 : MPI_UNDEFINED, rank, &world);
        for (int i = 0; i < 2 && world != MPI_COMM_NULL; i++)
            good = dcp_run(world, spec, transports[i], work, context) && good;
        if (world != MPI_COMM_NULL)
            MPI_Comm_free(&world);
    }
    return good;
}

int dcp_run_applications(void) {
    int ranks = app_ranks(MPI_COMM_WORLD);
    return ranks > 3 ? ranks - 3 : ranks > 1 ? ranks - 1 : 1;
}

bool dcp_run_takes(int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    char from = 0, to = 0; /* no rank starts this operation */
    coll_dcp_request *request;
    int code = coll_dcp_prepare(&from, &to, count, type, op, comm, &request);
    bool taken = request;
    if (taken)
        (void)coll_dcp_release(&request);
    return code == MPI_SUCCESS && taken;
}

bool dcp_run_is_error(int code, const char *part, const char *other) {
    const char *text = harness_text(code);
    int class = harness_class(code);
    bool good = class == MPI_ERR_OTHER && strstr(text, part) && strstr(text, other);
    if (!good)
        fprintf(stderr, "error %d: %s\n", class, text);
    return good;
}

static double tree_sum(int first, int size, int ranks, double (*value)(int rank, void *context),
                       void *context) {
    if (size == 1)
        return value(first, context);
    double sum = tree_sum(first, size / 2, ranks, value, context);
    if (first + size / 2 < ranks)
        sum += tree_sum(first + size / 2, size / 2, ranks, value, context);
    return sum;
}

double dcp_tree_sum(int ranks, double (*value)(int rank, void *context), void *context) {
    int size = 1;
    while (size < ranks)
        size *= 2;
    return tree_sum(0, size, ranks, value, context);
}
