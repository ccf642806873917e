/* A communicator's module: what it displaces, and how a program's call gets to libcoll. */
#include "ompi/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local int libcoll_inside, libcoll_blocked;
const unsigned *libcoll_sets;

/* --- Life --- */

static void construct(libcoll_module *module) {
    memset((char *)module + sizeof module->super, 0, sizeof *module - sizeof module->super);
}

/* EACH entry of the table that the component fills, of all three kinds. */
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

/* Keeps what is there; where there is nothing nobody is displaced. */
static int enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm) {
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

/* --- Which way a call goes --- */

/* Said by a process if it is asked to, but not again and again. */
static void say_why(const struct ompi_communicator_t *comm, const char *why, const char *remedy) {
    static const char *said;
    const char *trace = getenv("COLL_TRACE");
    if (said == why || comm->c_my_rank != 0 || !trace || strcmp(trace, "1") != 0)
        return;
    said = why;
    fprintf(stderr, "coll: the component stands aside: %s (%s)\n", why, remedy);
}

static void pass_all(libcoll_module *module) {
    for (int i = 0; i < LIBCOLL_COUNT; i++)
        module->passes[i] = true;
}

/* Asks libcoll which operations it would pass on anyway. */
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

/* libcoll knows all processes of this MPI_COMM_WORLD. */
static bool job_is_set_up;

/* Whether COMM's processes are all of one job that is set up; the same on all of them. */
static bool is_of_the_job(struct ompi_communicator_t *comm) {
    for (int rank = 0; rank < ompi_comm_size(comm); rank++)
        if (ompi_group_get_proc_name(comm->c_local_group, rank).jobid != OMPI_PROC_MY_NAME->jobid)
            return false;
    return job_is_set_up;
}

/* Local: libcoll knows the ranks' places, and the settings of the job's first process hold for all.
 */
static int get_to_know(libcoll_module *module, struct ompi_communicator_t *comm) {
    module->sets = __atomic_load_n(libcoll_sets, __ATOMIC_RELAXED);
    int code = MPI_SUCCESS;
    if (is_of_the_job(comm))
        code = ask_libcoll(module, comm);
    else
        module->stays = true;
    if (code != MPI_SUCCESS && libcoll_strict)
        return code;
    module->stays = module->stays || code != MPI_SUCCESS;
    if (module->stays)
        pass_all(module);
    module->known = true;
    return MPI_SUCCESS;
}

/* Before MPI_Init is through and from MPI_Finalize on, libcoll has no state of communicators. */
static bool is_below(void) {
    return libcoll_inside > 0 || ompi_mpi_state != OMPI_MPI_STATE_INIT_COMPLETED;
}

bool libcoll_asks_and_passes(libcoll_module *module, libcoll_operation operation,
                             struct ompi_communicator_t *comm, int *code) {
    if (is_below())
        return true;
    if (!module->known || !libcoll_is_recent(module))
        *code = get_to_know(module, comm);
    if (*code != MPI_SUCCESS)
        return false;
    bool passes = module->passes[operation];
    libcoll_count(passes ? &libcoll_program_counts.passed[operation]
                         : &libcoll_program_counts.served[operation]);
    return passes;
}

/* --- Where it stands aside --- */

static bool is_one_of(const char *name, const char *const names[]) {
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names;
}

/*
 * What libcoll knows nothing of carries the messages here: the name of that, or NULL. The way of
 * transport is one for all ranks (*ALIKE), its parts are found by each for itself.
 */
static const char *other_network(bool *alike) {
    static const char *const known[] = {"tcp", "vader", "sm", "self", NULL};
    const char *way = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    *alike = strcmp(way, "ob1") != 0;
    if (*alike)
        return way;
    mca_btl_base_selected_module_t *part;
    OPAL_LIST_FOREACH(part, &mca_btl_base_modules_initialized, mca_btl_base_selected_module_t) {
        const char *name = part->btl_component->btl_version.mca_component_name;
        if (!is_one_of(name, known))
            return name;
    }
    return NULL;
}

/* Whether it has to stand aside from all communicators. Rank 0's network decides for all: it tells
 * by a setting. */
static bool is_foreign(const struct ompi_communicator_t *comm) {
    bool alike;
    const char *other = libcoll_any_network ? NULL : other_network(&alike);
    if (!other)
        return false;
    say_why(comm, other, "not TCP; coll_libcoll_any_network 1 takes part nevertheless");
    if (!alike)
        (void)setenv("COLL_DISABLE", "1", 0);
    return alike;
}

/* Whether it takes part on COMM; the same on all ranks. */
static bool can_serve(const struct ompi_communicator_t *comm) {
    if (!libcoll_first_word()->takes_part) {
        say_why(comm, "rank 0 takes no part", "a setting, or no libcoll on its host");
        return false;
    }
    if (libcoll_first_word()->one_host || ompi_group_have_remote_peers(comm->c_local_group))
        return true;
    say_why(comm, "all ranks on one host", "coll_libcoll_one_host 1 takes part nevertheless");
    return false;
}

/* The job's errors are those of settings and files: the same on all ranks. */
static void refuse_job(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (OMPI_PROC_MY_NAME->vpid != 0)
        return;
    (void)PMPI_Error_string(code, text, &length);
    fprintf(stderr, "libcoll: %s%s\n", libcoll_strict ? "" : "takes no part: ", text);
    if (libcoll_strict)
        ompi_rte_abort(1, NULL);
}

void libcoll_set_up_job(void) {
    struct ompi_communicator_t *world = MPI_COMM_WORLD;
    if (ompi_comm_size(world) < 2 || is_foreign(world) || !can_serve(world))
        return;
    libcoll_fit fit = libcoll_find_fit(ompi_comm_size(world));
    if (fit == LIBCOLL_STRANGER)
        say_why(world, "another rank has another libcoll, or none",
                "install the same on all hosts");
    if (fit == LIBCOLL_GPU)
        say_why(world, "buffers may lie in a GPU's memory",
                "coll_libcoll_gpu 0 where the program passes none of these");
    if (fit != LIBCOLL_FITS)
        return;
    libcoll_enter();
    int code = COLL_Setup_job(libcoll_way);
    libcoll_leave();
    if (code != MPI_SUCCESS)
        refuse_job(code);
    job_is_set_up = code == MPI_SUCCESS;
}

mca_coll_base_module_t *libcoll_comm_query(struct ompi_communicator_t *comm, int *priority) {
    if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 || is_foreign(comm) ||
        !can_serve(comm))
        return NULL;
    libcoll_module *module = OBJ_NEW(libcoll_module);
    if (!module)
        return NULL;
    *priority = libcoll_priority;
    module->super.coll_module_enable = enable;
    libcoll_set_functions(&module->super);
    return &module->super;
}
