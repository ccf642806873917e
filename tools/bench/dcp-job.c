#include "config.h"

#include "tools/bench/dcp-job.h"

#include "app/agreement.h"

#include <coll_tools.h>

#include <stddef.h>

/* Others wait in calls that end with those who failed: only the whole job can end then. */
static void give_up(const char *program, int code) {
    app_problem problem = {""};
    if (code == MPI_SUCCESS)
        return;
    app_mpi(&problem, code);
    app_abort(MPI_COMM_WORLD, program, "%s", problem.text);
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

/* Ends the program where DCPs can't be started. */
static MPI_Comm start(const char *program, const char *spec) {
    app_problem problem = {""};
    MPI_Comm app = MPI_COMM_NULL;
    app_mpi(&problem, DCP_Start(spec, &app));
    app_agree_or_end(MPI_COMM_WORLD, program, &problem);
    return app;
}

void dcp_job_run(const char *program, const char *spec, dcp_job_work *work, void *context) {
    if (!spec) {
        give_up(program, run_without(work, context));
        return;
    }
    MPI_Comm app = start(program, spec);
    if (app == MPI_COMM_NULL) {
        give_up(program, DCP_Serve());
        return;
    }
    give_up(program, work_on(app, work, context));
    give_up(program, DCP_Stop());
}
