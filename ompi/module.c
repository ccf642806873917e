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

/* On all ranks alike: the communicator is libcoll's own, or what rank 0 is set to holds for all. */
static int get_to_know(libcoll_module *module, struct ompi_communicator_t *comm) {
    bool own = strcmp(comm->c_name, COLL_PRIVATE_NAME) == 0;
    module->sets = __atomic_load_n(libcoll_sets, __ATOMIC_RELAXED);
    int code = own ? MPI_SUCCESS : ask_libcoll(module, comm);
    if (code != MPI_SUCCESS && libcoll_strict)
        return code;
    if (own)
        module->counts = &libcoll_own_counts;
    module->stays = own || code != MPI_SUCCESS;
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
    libcoll_count(passes ? &module->counts->passed[operation] : &module->counts->served[operation]);
    return passes;
}

bool libcoll_passes_started(libcoll_module *module, libcoll_operation operation,
                            struct ompi_communicator_t *comm) {
    if (is_below())
        return true;
    if (module->known && !libcoll_is_recent(module))
        (void)get_to_know(module, comm); /* local: it is set up */
    bool passes = !module->known || module->passes[operation];
    libcoll_count(passes ? &module->counts->passed[operation] : &module->counts->served[operation]);
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

/* Said once by a process, if it is asked to. */
static void say_why(const struct ompi_communicator_t *comm, const char *why, const char *remedy) {
    static bool said;
    const char *trace = getenv("COLL_TRACE");
    if (said || comm->c_my_rank != 0 || !trace || strcmp(trace, "1") != 0)
        return;
    said = true;
    fprintf(stderr, "coll: the component stands aside: %s (%s)\n", why, remedy);
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
