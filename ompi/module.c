/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator's module: the functions that it replaces, and the decision which calls libcoll
 * runs.
 */
#include "ompi/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local int libcoll_inside, libcoll_blocked;
const unsigned *libcoll_sets;

/* --- Construction and destruction --- */

static void construct(libcoll_module *module) {
    memset((char *)module + sizeof module->super, 0, sizeof *module - sizeof module->super);
}

/* Applies EACH to the three entries of FUNCTION: blocking, nonblocking and persistent. */
#define ENTRIES_OF(function) EACH(function) EACH(i##function) EACH(function##_init)

static void destruct(libcoll_module *module) {
#define EACH(entry)                                                                                \
    if (module->below.coll_##entry##_module)                                                       \
        OBJ_RELEASE(module->below.coll_##entry##_module);
    LIBCOLL_FUNCTIONS(ENTRIES_OF)
#undef EACH
    free(module->vectors);
}

OBJ_CLASS_INSTANCE(libcoll_module, mca_coll_base_module_t, construct, destruct);

/*
 * Saves the communicator's previous functions. Removes the module's functions for which there is no
 * previous one.
 */
static int save_previous_functions(mca_coll_base_module_t *base, struct ompi_communicator_t *comm) {
    libcoll_module *module = (libcoll_module *)base;
#define EACH(entry)                                                                                \
    if (comm->c_coll->coll_##entry) {                                                              \
        module->below.coll_##entry = comm->c_coll->coll_##entry;                                   \
        module->below.coll_##entry##_module = comm->c_coll->coll_##entry##_module;                 \
        OBJ_RETAIN(module->below.coll_##entry##_module);                                           \
    } else {                                                                                       \
        base->coll_##entry = NULL;                                                                 \
    }
    LIBCOLL_FUNCTIONS(ENTRIES_OF)
#undef EACH
    return OMPI_SUCCESS;
}

/* --- Which calls libcoll runs --- */

/*
 * Stores WHY the component takes no part, for the report, if COMM is MPI_COMM_WORLD. Prints WHY and
 * REMEDY on rank 0 of COMM if COLL_TRACE=1, unless WHY was the last reason printed.
 */
static void trace_reason(const struct ompi_communicator_t *comm, const char *why,
                         const char *remedy) {
    static const char *said;
    const char *trace = getenv("COLL_TRACE");
    if (comm == MPI_COMM_WORLD)
        COLL_Report_aside(why);
    if (said == why || comm->c_my_rank != 0 || !trace || strcmp(trace, "1") != 0)
        return;
    said = why;
    fprintf(stderr, "coll: the component stands aside: %s (%s)\n", why, remedy);
}

/* Asks libcoll for which operations it would always use the MPI library's own functions. */
static int ask_libcoll(libcoll_module *module, struct ompi_communicator_t *comm) {
    int code = MPI_SUCCESS, native = 0;
    libcoll_enter();
#define ASK(operation, setting)                                                                    \
    if (code == MPI_SUCCESS)                                                                       \
        code = COLL_Always_native(#operation, comm, &native);                                      \
    module->passes[LIBCOLL_##operation] = native;
    LIBCOLL_OPERATIONS(ASK)
#undef ASK
    libcoll_leave();
    return code;
}

/* Whether COLL_Setup_job has succeeded. */
static bool job_is_set_up;

/*
 * Returns whether all of COMM's processes belong to this job, and the job is set up. The result is
 * the same on all these processes.
 */
static bool is_of_the_job(struct ompi_communicator_t *comm) {
    for (int rank = 0; rank < ompi_comm_size(comm); rank++)
        if (ompi_group_get_proc_name(comm->c_local_group, rank).jobid != OMPI_PROC_MY_NAME->jobid)
            return false;
    return job_is_set_up;
}

/*
 * Determines which operations are passed on. Local: libcoll knows the ranks' places, and the
 * settings of the job's first process hold for all.
 */
static int determine_passed_operations(libcoll_module *module, struct ompi_communicator_t *comm) {
    module->sets = __atomic_load_n(libcoll_sets, __ATOMIC_RELAXED);
    int code = MPI_SUCCESS;
    if (is_of_the_job(comm))
        code = ask_libcoll(module, comm);
    else
        module->stays = true;
    if (code != MPI_SUCCESS && libcoll_strict)
        return code;
    module->stays = module->stays || code != MPI_SUCCESS;
    for (int i = 0; i < LIBCOLL_COUNT && module->stays; i++)
        module->passes[i] = true;
    module->known = true;
    return MPI_SUCCESS;
}

/*
 * Returns whether all calls must be passed on: within libcoll, and before the end of MPI_Init or
 * after the start of MPI_Finalize, when libcoll has no state of communicators.
 */
static bool must_pass_on(void) {
    return libcoll_inside > 0 || ompi_mpi_state != OMPI_MPI_STATE_INIT_COMPLETED;
}

bool libcoll_asks_and_passes(libcoll_module *module, libcoll_operation operation,
                             struct ompi_communicator_t *comm, int *code) {
    if (must_pass_on())
        return true;
    if (!module->known || !libcoll_is_recent(module))
        *code = determine_passed_operations(module, comm);
    if (*code != MPI_SUCCESS)
        return false;
    bool passes = module->passes[operation];
    libcoll_count(passes ? &libcoll_program_counts.passed[operation]
                         : &libcoll_program_counts.served[operation]);
    return passes;
}

/* --- When the component stands aside --- */

static bool is_one_of(const char *name, const char *const names[]) {
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names;
}

/*
 * Returns the name of a transport in use for which libcoll is not made, or NULL if there is none.
 * Sets *SAME_ON_ALL to whether the point-to-point component is other than ob1: all ranks use
 * the same component, but with ob1 each rank chooses its byte transfer layers itself.
 */
static const char *other_network(bool *same_on_all) {
    static const char *const known[] = {"tcp", "vader", "sm", "self", NULL};
    const char *way = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    *same_on_all = strcmp(way, "ob1") != 0;
    if (*same_on_all)
        return way;
    mca_btl_base_selected_module_t *part;
    OPAL_LIST_FOREACH(part, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t) {
        const char *name = part->btl_component->btl_version.mca_component_name;
        if (!is_one_of(name, known))
            return name;
    }
    return NULL;
}

/*
 * Returns whether the component must stand aside on all communicators because of the network. If
 * the network may differ between ranks, sets COLL_DISABLE instead, so that rank 0's network decides
 * for all.
 */
static bool has_foreign_network(const struct ompi_communicator_t *comm) {
    bool same_on_all;
    if (!libcoll_tags_fit()) {
        trace_reason(comm, mca_pml_base_selected_component.pmlm_version.mca_component_name,
                     "its tags are shorter than libcoll's");
        return true;
    }
    const char *other = libcoll_any_network ? NULL : other_network(&same_on_all);
    if (!other)
        return false;
    trace_reason(comm, other, "not TCP; coll_libcoll_any_network 1 takes part nevertheless");
    if (!same_on_all)
        (void)setenv("COLL_DISABLE", "1", 0);
    return same_on_all;
}

/* Returns whether the component takes part on COMM. The same on all ranks. */
static bool takes_part_on(const struct ompi_communicator_t *comm) {
    if (!libcoll_first_word()->takes_part) {
        trace_reason(comm, "rank 0 takes no part", "a setting, or no libcoll on its host");
        return false;
    }
    if (libcoll_first_word()->one_host || ompi_group_have_remote_peers(comm->c_local_group))
        return true;
    trace_reason(comm, "all ranks on one host", "coll_libcoll_one_host 1 takes part nevertheless");
    return false;
}

static void print_error(const char *before, int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    (void)PMPI_Error_string(code, text, &length);
    fprintf(stderr, "libcoll: %s%s\n", before, text);
}

/*
 * Prints an error of setting up the job, on one rank, and ends the job if libcoll_strict. Such
 * errors come from settings and files, and are the same on all ranks.
 */
static void report_job_error(int code) {
    if (OMPI_PROC_MY_NAME->vpid != 0)
        return;
    print_error(libcoll_strict ? "" : "takes no part: ", code);
    if (libcoll_strict)
        ompi_rte_abort(1, NULL);
}

/*
 * Ends the job because this rank can't write its record (COLL_RECORD): better now than after hours.
 */
static void end_without_record(int code) {
    print_error("", code);
    ompi_rte_abort(1, NULL);
}

bool libcoll_reports;
int libcoll_report_numbers[LIBCOLL_COUNT];

static void start_report(void) {
#define NUMBER_OF(operation, setting)                                                              \
    libcoll_report_numbers[LIBCOLL_##operation] = COLL_Report_operation(#operation);
    LIBCOLL_OPERATIONS(NUMBER_OF)
#undef NUMBER_OF
    const char *record = getenv("COLL_RECORD");
    if (record && !*record)
        record = NULL;
    libcoll_enter();
    const int code = COLL_Report_start(libcoll_first_word()->reports, record);
    libcoll_leave();
    libcoll_reports = code == MPI_SUCCESS;
    if (libcoll_reports && libcoll_first_word()->reports)
        (void)setenv(LIBCOLL_COMPONENT_REPORTS, "1", 1);
    if (code != MPI_SUCCESS && record)
        end_without_record(code);
}

static void set_up_job(void) {
    struct ompi_communicator_t *world = MPI_COMM_WORLD;
    if (ompi_comm_size(world) < 2 || has_foreign_network(world) || !takes_part_on(world))
        return;
    libcoll_fit fit = libcoll_find_fit(ompi_comm_size(world));
    if (fit == LIBCOLL_STRANGER)
        trace_reason(world, "another rank has another libcoll, or none",
                     "install the same on all hosts");
    if (fit == LIBCOLL_GPU)
        trace_reason(world, "buffers may lie in a GPU's memory",
                     "coll_libcoll_gpu 0 if the program passes no such buffers");
    if (fit != LIBCOLL_FITS)
        return;
    libcoll_enter();
    int code = COLL_Setup_job(libcoll_way);
    libcoll_leave();
    if (code != MPI_SUCCESS)
        report_job_error(code);
    job_is_set_up = code == MPI_SUCCESS;
}

void libcoll_set_up_job(void) {
    set_up_job();
    if (libcoll_first_word()->reports || libcoll_first_word()->records)
        start_report();
    else
        (void)COLL_Report_start(0, NULL); /* until then calls are timed, for a report */
}

mca_coll_base_module_t *libcoll_comm_query(struct ompi_communicator_t *comm, int *priority) {
    if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2)
        return NULL;
    const bool takes_part = !has_foreign_network(comm) && takes_part_on(comm);
    if (!takes_part && !libcoll_first_word()->reports && !libcoll_first_word()->records)
        return NULL;
    libcoll_module *module = OBJ_NEW(libcoll_module);
    if (!module)
        return NULL;
    for (int i = 0; i < LIBCOLL_COUNT && !takes_part; i++)
        module->passes[i] = module->known = module->stays = true; /* only recorded */
    *priority = libcoll_priority;
    module->super.coll_module_enable = save_previous_functions;
    libcoll_set_functions(&module->super);
    return &module->super;
}
