/* A communicator's module: what it displaces, and how a program's call gets to libcoll. */
#include "ompi/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local int libcoll_inside;
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

/* Has libcoll set the communicator up, and asks which operations it would pass on anyway. */
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

/* Stands aside from this communicator for good: to ask anew would take all ranks. */
static void stay_out(libcoll_module *module) {
    pass_all(module);
    module->known = module->stays = true;
}

static bool is_own(const struct ompi_communicator_t *comm) {
    return strcmp(comm->c_name, COLL_PRIVATE_NAME) == 0;
}

/* What is known without a question; on all ranks alike. */
static void look_at(libcoll_module *module, struct ompi_communicator_t *comm) {
    module->asked = true;
    if (is_own(comm)) {
        module->counts = &libcoll_own_counts;
        stay_out(module);
        return;
    }
    module->patience = libcoll_patience_of(comm);
    if (module->patience > 0 && module->patience < LIBCOLL_FOR_EVER)
        say_why(comm, "until collectives have moved something on a communicator",
                "coll_libcoll_patience 0: from the first one on");
    if (module->patience < 0) {
        say_why(comm, "rank 0 takes no part", "a setting, or no libcoll on its host");
        stay_out(module);
    }
}

/* On all ranks alike: what rank 0 is set to holds for all. */
static int get_to_know(libcoll_module *module, struct ompi_communicator_t *comm) {
    libcoll_fit fit = module->known ? LIBCOLL_FITS : libcoll_fit_of(comm);
    if (fit == LIBCOLL_STRANGER)
        say_why(comm, "another rank has another libcoll, or none", "install the same on all hosts");
    if (fit == LIBCOLL_GPU)
        say_why(comm, "buffers may lie in a GPU's memory",
                "coll_libcoll_gpu 0 where the program passes none of these");
    if (fit != LIBCOLL_FITS) {
        stay_out(module);
        return MPI_SUCCESS;
    }
    module->sets = __atomic_load_n(libcoll_sets, __ATOMIC_RELAXED);
    int code = ask_libcoll(module, comm);
    if (code != MPI_SUCCESS && libcoll_strict)
        return code;
    if (code != MPI_SUCCESS)
        stay_out(module);
    module->known = true;
    return MPI_SUCCESS;
}

/* Before MPI_Init is through and from MPI_Finalize on, libcoll has no state of communicators. */
static bool is_below(void) {
    return libcoll_inside > 0 || ompi_mpi_state != OMPI_MPI_STATE_INIT_COMPLETED;
}

/*
 * Whether it doesn't pay yet to set up COMM, which takes as long as many small calls: with this one
 * its calls have moved little. They come in the same order and sizes on all ranks; and so does
 * COLL_Set, after which it is set up.
 */
static bool is_too_early(libcoll_module *module, struct ompi_communicator_t *comm, int64_t bytes) {
    if (!libcoll_is_recent(module)) {
        module->sets = __atomic_load_n(libcoll_sets, __ATOMIC_RELAXED);
        if (COLL_Is_set_up(comm))
            module->patience = 0;
    }
    if (module->patience == LIBCOLL_FOR_EVER)
        return true;
    bool early = bytes < module->patience - LIBCOLL_CALL_BYTES;
    module->patience = early ? module->patience - LIBCOLL_CALL_BYTES - bytes : 0;
    return early;
}

static bool count(libcoll_module *module, libcoll_operation operation, bool passes) {
    libcoll_count(passes ? &module->counts->passed[operation] : &module->counts->served[operation]);
    return passes;
}

bool libcoll_asks_and_passes(libcoll_module *module, libcoll_operation operation,
                             struct ompi_communicator_t *comm, int64_t bytes, int *code) {
    if (is_below())
        return true;
    if (!module->asked)
        look_at(module, comm);
    if (!module->known && is_too_early(module, comm, bytes))
        return count(module, operation, true);
    if (!module->known || !libcoll_is_recent(module))
        *code = get_to_know(module, comm);
    return *code == MPI_SUCCESS && count(module, operation, module->passes[operation]);
}

bool libcoll_passes_started(libcoll_module *module, libcoll_operation operation,
                            struct ompi_communicator_t *comm, int64_t bytes) {
    if (is_below())
        return true;
    if (!module->asked)
        look_at(module, comm);
    if (!module->known)
        (void)is_too_early(module, comm, bytes); /* the next that may wait sees to it */
    else if (!libcoll_is_recent(module))
        (void)get_to_know(module, comm); /* local: it is set up */
    return count(module, operation, !module->known || module->passes[operation]);
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

mca_coll_base_module_t *libcoll_comm_query(struct ompi_communicator_t *comm, int *priority) {
    if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2 || is_foreign(comm))
        return NULL;
    if (!libcoll_one_host && !ompi_group_have_remote_peers(comm->c_local_group)) {
        say_why(comm, "all ranks on one host", "coll_libcoll_one_host 1 takes part nevertheless");
        return NULL;
    }
    libcoll_module *module = OBJ_NEW(libcoll_module);
    if (!module)
        return NULL;
    *priority = libcoll_priority;
    module->counts = &libcoll_program_counts;
    module->super.coll_module_enable = enable;
    libcoll_set_functions(&module->super);
    return &module->super;
}
