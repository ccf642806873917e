/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The beginning and the end of a program with libcoll_pmpi. MPI_Init makes some ranks dedicated
 * processors, which serve within it and never return; the others get a communicator that stands for
 * MPI_COMM_WORLD. The last callback of MPI_Finalize ends the service.
 */
#include "config.h"

#include "cdcp/dcp.h"
#include "cdcp/pmpi/account.h"
#include "cdcp/pmpi/bypass.h"
#include "cdcp/pmpi/collectives.h"
#include "cdcp/pmpi/environment.h"
#include "cdcp/pmpi/world.h"
#include "lib/base/abort.h"
#include "lib/base/env.h"
#include "lib/base/error.h"
#include "lib/base/preloaded.h"
#include "lib/base/stand_aside.h"
#include "lib/comm/settings.h"
#include "lib/report/record.h"
#include "lib/report/report.h"
#include "ompi/transport.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rank 0's settings, which hold for all ranks. */
typedef struct user_settings {
    char problem[MPI_MAX_ERROR_STRING]; /* what is wrong, or "" */
    char dcp[64];                       /* COLL_DCP, or "" */
    char record[1024];                  /* COLL_RECORD, or "" */
    bool routed[COLL_OPERATIONS], trace, report;
} user_settings;

static int dcps; /* number of dedicated processors */
static char record[sizeof((user_settings *)0)->record + 1];

/* The MPI library for which libcoll_pmpi is built. */
#ifdef OPEN_MPI
/* The Fortran calls and the kinds of requests depend on the series of Open MPI. */
#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)
static const char library[] = "Open MPI v" TEXT(OMPI_MAJOR_VERSION);
#elif defined COLL_MPI_LIBRARY
static const char library[] = COLL_MPI_LIBRARY;
#else /* configure could not run programs: any library is taken for the right one */
static const char library[] = "";
#endif

/* The loader passes the program's arguments to constructors. */
__attribute__((constructor)) static void check_when_loaded(int argc, char **argv) {
    (void)argc;
    coll_stand_aside(library, argv);
}

/* Returns whether this process's settings name collectives that libcoll is to run. */
static bool is_routed(void) {
    bool routed = coll_env("COLL_WRAP");
    for (int i = 0; i < COLL_OPERATIONS; i++)
        routed = routed || coll_env(coll_operations[i].variable);
    return routed;
}

/*
 * Moves COLL_RECORD from the environment to RECORD: an installed component would record the same
 * calls.
 */
static void take_record(void) {
    const char *directory = coll_env("COLL_RECORD");
    snprintf(record, sizeof record, "%s", directory ? directory : "");
    (void)unsetenv("COLL_RECORD");
}

/*
 * Dedicated processors end with leave(), which runs none of the program's code, such as functions
 * that it registered with atexit before MPI_Init. prepare() is called before the MPI library's
 * MPI_Init.
 */
#ifdef OPEN_MPI
/* An installed component would serve, and report, the calls that are left to Open MPI. */
static void prepare(void) {
    take_record();
    if (is_routed() || coll_env("COLL_DCP"))
        (void)setenv("OMPI_MCA_coll_libcoll_enable", "0", 0); /* if it fails, both serve calls */
}

_Noreturn static void leave(int status) {
    fflush(stderr);
    _exit(status);
}
#else
/*
 * MPICH's own atexit functions, registered in MPI_Init, must run; otherwise its launcher treats the
 * end as a failure.
 */
static _Atomic bool leaving;
static int leaving_with;

static void leave_before_program(void) {
    if (leaving)
        _exit(leaving_with);
}

static void prepare(void) {
    take_record();
    atexit(leave_before_program);
}

_Noreturn static void leave(int status) {
    fflush(stderr);
    leaving_with = status;
    leaving = true;
    exit(status);
}
#endif

/* Ends a job that can't begin. Collective; rank 0 of MPI_COMM_WORLD prints PROBLEM. */
_Noreturn static void end_with_problem(const char *problem) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "libcoll_pmpi: %s\n", problem);
    PMPI_Finalize();
    leave(1);
}

static const char *error_text(int code) {
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    if (PMPI_Error_string(code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error %d", code);
    return text;
}

/* Marks the operation that WORD of COLL_WRAP names, or all operations. */
static int mark_route(const char *word, bool routed[COLL_OPERATIONS]) {
    bool all = strcmp(word, "all") == 0, found = all;
    char known[200] = "all";
    for (int i = 0; i < COLL_OPERATIONS; i++) {
        if (i == COLL_OPERATION_AGGREGATE) /* MPI has no such operation */
            continue;
        bool named = strcmp(word, coll_operations[i].name) == 0;
        routed[i] = routed[i] || named || all;
        found = found || named;
        coll_error_list(known, sizeof known, coll_operations[i].name);
    }
    return found ? MPI_SUCCESS
                 : coll_error(MPI_ERR_ARG, "COLL_WRAP: %s is no operation; known: %s", word, known);
}

/* Marks the operations that COLL_WRAP lists, and the operations whose algorithm is set. */
static int read_routes(bool routed[COLL_OPERATIONS]) {
    const char *list = coll_env("COLL_WRAP");
    char words[300], *rest = NULL;
    int code = MPI_SUCCESS;
    for (int i = 0; i < COLL_OPERATIONS; i++)
        routed[i] = coll_env(coll_operations[i].variable);
    if (list && strlen(list) >= sizeof words)
        return coll_error(MPI_ERR_ARG, "COLL_WRAP: too long a list");
    snprintf(words, sizeof words, "%s", list ? list : "");
    for (char *word = strtok_r(words, ",", &rest); word && code == MPI_SUCCESS;
         word = strtok_r(NULL, ",", &rest))
        code = mark_route(word, routed);
    return code;
}

static bool uses_libcoll(const user_settings *settings) {
    return *settings->dcp || coll_routes_any(settings->routed);
}

/* Reads rank 0's settings. Collective over MPI_COMM_WORLD. */
static int read_user_settings(user_settings *settings) {
    int rank;
    int code = PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (code != MPI_SUCCESS)
        return code;
    *settings = (user_settings){.problem = ""};
    if (rank == 0) {
        const char *dcp = coll_env("COLL_DCP"), *report = coll_env("COLL_REPORT");
        int wrong = coll_settings_check();
        if (wrong == MPI_SUCCESS)
            wrong = coll_env_switch("COLL_TRACE", &settings->trace);
        if (wrong == MPI_SUCCESS)
            wrong = read_routes(settings->routed);
        if (wrong == MPI_SUCCESS && strlen(record) >= sizeof settings->record)
            wrong = coll_error(MPI_ERR_ARG, "COLL_RECORD is longer than %zu characters",
                               sizeof settings->record - 1);
        if (wrong != MPI_SUCCESS)
            snprintf(settings->problem, sizeof settings->problem, "%s", error_text(wrong));
        snprintf(settings->dcp, sizeof settings->dcp, "%s", dcp ? dcp : "");
        settings->report = report && strcmp(report, "0") != 0 &&
                           (uses_libcoll(settings) || !getenv(LIBCOLL_COMPONENT_REPORTS));
        snprintf(settings->record, sizeof settings->record, "%.*s",
                 (int)sizeof settings->record - 1, record);
    }
    return PMPI_Bcast(settings, sizeof *settings, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Runs a dedicated processor and ends the process. */
_Noreturn static void run_dedicated_processor(void) {
    int code = DCP_Serve();
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "libcoll_pmpi: dedicated processor: %s\n", error_text(code));
        coll_abort();
    }
    PMPI_Finalize();
    leave(0);
}

/*
 * Ends the service. MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the newest first;
 * this one is the oldest, so the service ends after the program's own callbacks.
 */
static int end_service(MPI_Comm self, int keyval, void *value, void *extra) {
    (void)self, (void)keyval, (void)value, (void)extra;
    int code = coll_account_report(coll_dcp_comm(MPI_COMM_WORLD), dcps);
    int stopped = dcps ? DCP_Stop() : MPI_SUCCESS;
    return code != MPI_SUCCESS ? code : stopped;
}

static int end_at_finalize(void) {
    int keyval;
    int code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_service, &keyval, NULL);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_free_keyval(&keyval);
    return code;
}

/*
 * Returns whether the program was spawned. Spawned programs run without dedicated processors, since
 * all of their ranks communicate with their parents.
 */
static bool is_spawned(void) {
    MPI_Comm parent;
    return PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

/* Starts the dedicated processors that SPEC selects; on these it does not return. */
static int start_dedicated_processors(const char *spec) {
    MPI_Comm app;
    int code = coll_dcp_start(spec, MPI_COMM_WORLD, &app);
    if (code != MPI_SUCCESS)
        end_with_problem(error_text(code));
    if (app == MPI_COMM_NULL)
        run_dedicated_processor();
    int ranks, all;
    code = PMPI_Comm_size(app, &ranks);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(MPI_COMM_WORLD, &all);
    dcps = all - ranks;
    if (code == MPI_SUCCESS)
        code = coll_world_dress(app);
    return code == MPI_SUCCESS ? coll_environment_correct(app) : code;
}

/*
 * Lets communicators be set up without messages, if libcoll's messages can use the program's
 * communicators. All ranks run the same Open MPI, so the condition is the same on all ranks.
 */
static void set_up_job(void) {
#ifdef HAVE_OMPI_TRANSPORT
    char why[200];
    const COLL_Transport *transport = libcoll_transport(LIBCOLL_TAGS_WRAPPER, why, sizeof why);
    int code = transport && libcoll_tags_fit() ? COLL_Setup_job(transport) : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        end_with_problem(error_text(code));
#endif
}

/* Starts the report and the record that SETTINGS ask for. Ends the job if a rank can't write its
 * record: better now than after hours. */
static int start_report(const user_settings *settings) {
    if (!settings->report && !*settings->record) {
        coll_report_end_recording();
        return MPI_SUCCESS;
    }
    if (!uses_libcoll(settings))
        coll_report_set_aside("coll-run got no --wrap, no --dcp and no algorithm");
    if (!*settings->record)
        return coll_report_start(settings->report, NULL);
    MPI_Comm world = coll_dcp_comm(MPI_COMM_WORLD);
    const int started = coll_report_start(settings->report, settings->record);
    int rank, first;
    int code = PMPI_Comm_rank(world, &rank);
    int fails = started == MPI_SUCCESS ? INT_MAX : rank;
    if (code == MPI_SUCCESS)
        code = PMPI_Allreduce(&fails, &first, 1, MPI_INT, MPI_MIN, world);
    if (code == MPI_SUCCESS && first == rank) {
        fprintf(stderr, "libcoll_pmpi: rank %d: %s\n", rank, error_text(started));
        coll_abort();
    }
    if (code == MPI_SUCCESS && first < INT_MAX)
        code = PMPI_Barrier(world); /* until rank FIRST has ended the job */
    return code;
}

static int begin_libcoll(void) {
    user_settings settings;
    int code = coll_preloaded_barrier("libcoll_pmpi.so", COLL_PRELOADED_PMPI);
    if (code == MPI_SUCCESS)
        code = read_user_settings(&settings);
    if (code != MPI_SUCCESS)
        return code;
    if (*settings.problem)
        end_with_problem(settings.problem);
    coll_report_start_later(); /* start_report starts the report, when libcoll's calls on
                                  MPI_COMM_WORLD use the application ranks */
    if (uses_libcoll(&settings))
        set_up_job();
    if (*settings.dcp && !is_spawned())
        code = start_dedicated_processors(settings.dcp);
    memcpy(coll_routed, settings.routed, sizeof coll_routed);
    code = coll_world_made(code, coll_dcp_comm(MPI_COMM_WORLD));
    if (settings.trace)
        coll_account_start();
    if (code == MPI_SUCCESS && (dcps || settings.trace))
        code = end_at_finalize();
    if (code == MPI_SUCCESS)
        code = start_report(&settings);
    return code;
}

/*
 * Returns whether libcoll's progress thread is to run, which needs MPI_THREAD_MULTIPLE. It is the
 * default if libcoll runs collectives of the program. Without the thread, a rank that waits inside
 * the MPI library, as in MPI_Comm_split, would not advance its nonblocking collectives, for which
 * other ranks may wait.
 */
static bool wants_thread(void) {
    if (!is_routed())
        return false;
    if (!coll_env("COLL_PROGRESS")) /* if setenv fails, there is no thread */
        (void)setenv("COLL_PROGRESS", "thread", 1);
    const char *progress = coll_env("COLL_PROGRESS");
    return progress && strcmp(progress, "thread") == 0;
}

int MPI_Init(int *argc, char ***argv) {
    int provided;
    coll_bypass_ruled_out();
    prepare();
    int code = wants_thread() ? PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                              : PMPI_Init(argc, argv);
    return code == MPI_SUCCESS ? begin_libcoll() : code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    coll_bypass_ruled_out();
    prepare();
    int code =
        PMPI_Init_thread(argc, argv, wants_thread() ? MPI_THREAD_MULTIPLE : required, provided);
    return code == MPI_SUCCESS ? begin_libcoll() : code;
}

/*
 * The standard leaves the meaning of LEVEL to tools: here 0 pauses the account, and other levels
 * resume it.
 */
int MPI_Pcontrol(const int level, ...) {
    if (level == 0)
        coll_account_pause();
    else
        coll_account_resume();
    return MPI_SUCCESS;
}

int PMPI_Pcontrol(const int level, ...) {
    return MPI_Pcontrol(level);
}
