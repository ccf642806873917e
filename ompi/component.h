/*
 * The component "libcoll" of Open MPI's framework "coll". It answers for communicators that span
 * hosts, keeps what it displaces there, and takes the program's collectives to libcoll.
 */
#ifndef COLL_OMPI_COMPONENT_H
#define COLL_OMPI_COMPONENT_H

#include "ompi/openmpi.h"

#include "ompi/operations.h"
#include "ompi/transport.h"

#include <coll.h>
#include <stdbool.h>
#include <stdint.h>

/* Calls of each operation that libcoll ran, and those that went to what was there before. */
typedef struct libcoll_counts {
    unsigned long served[LIBCOLL_COUNT], passed[LIBCOLL_COUNT];
} libcoll_counts;

extern libcoll_counts libcoll_program_counts;

/* What is kept of a communicator's table: of each entry, the function and the module it is of. */
typedef struct libcoll_below {
#define ENTRY(entry)                                                                               \
    mca_coll_base_module_##entry##_fn_t coll_##entry;                                              \
    mca_coll_base_module_t *coll_##entry##_module;
#define KINDS(function) ENTRY(function) ENTRY(i##function) ENTRY(function##_init)
    LIBCOLL_FUNCTIONS(KINDS)
#undef KINDS
#undef ENTRY
} libcoll_below;

typedef struct libcoll_module {
    mca_coll_base_module_t super;
    libcoll_below below;        /* the communicator's functions before this module's */
    bool known;                 /* what follows is; the same on all ranks */
    bool passes[LIBCOLL_COUNT]; /* all calls go below at once */
    unsigned sets;              /* after so many calls of COLL_Set */
    bool stays;                 /* whatever is set */
    void *vectors;              /* counts and displacements of a blocking call; NULL: none yet */
} libcoll_module;
OBJ_CLASS_DECLARATION(libcoll_module);

/* A module for COMM, or NULL where there is no need of one or no way to serve it. */
mca_coll_base_module_t *libcoll_comm_query(struct ompi_communicator_t *comm, int *priority);

/* Sets BASE's functions (entries.c). */
void libcoll_set_functions(mca_coll_base_module_t *base);

/*
 * Whether a call of OPERATION on COMM goes below, which MODULE didn't know it does; else *CODE says
 * whether libcoll can run it. Local; all ranks find the same.
 */
bool libcoll_asks_and_passes(libcoll_module *module, libcoll_operation operation,
                             struct ompi_communicator_t *comm, int *code);

/*
 * The end of MPI_Init: has libcoll tell all processes what it needs to know of each, if they can
 * use it together. Collective over MPI_COMM_WORLD.
 */
void libcoll_set_up_job(void);

extern const unsigned *libcoll_sets; /* how many there were by now */

static inline bool libcoll_is_recent(const libcoll_module *module) {
    return module->sets == __atomic_load_n(libcoll_sets, __ATOMIC_RELAXED) || module->stays;
}

static inline void libcoll_count(unsigned long *count) {
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/* Whether a call goes below at once, without a question. */
static inline bool libcoll_passes(libcoll_module *module, libcoll_operation operation) {
    if (!module->passes[operation] || !libcoll_is_recent(module))
        return false;
    libcoll_count(&libcoll_program_counts.passed[operation]);
    return true;
}

/* --- What processes know of each other without a message (peers.c) --- */

/* What a process tells the others. Of what may differ the word of the job's first process holds. */
typedef struct libcoll_word {
    bool gpu; /* its buffers may lie in the memory of a GPU */
    bool takes_part, one_host;
} libcoll_word;

/* Tells WORD to the other processes, in MPI_Init before they exchange addresses. */
void libcoll_tell(const libcoll_word *word);

/* What the job's first process has told; all false if it has told nothing. */
const libcoll_word *libcoll_first_word(void);

/* Why the processes of a job can't use libcoll together. */
typedef enum libcoll_fit {
    LIBCOLL_FITS,
    LIBCOLL_STRANGER, /* one has another libcoll, or none */
    LIBCOLL_GPU       /* one may have buffers that libcoll can't read */
} libcoll_fit;

/* Those of this job, of so many RANKS, as the first that doesn't fit has told; the same on all. */
libcoll_fit libcoll_find_fit(int ranks);

/* --- The parameters (component.c) --- */

extern int libcoll_priority;
extern bool libcoll_strict, libcoll_any_network;
extern const COLL_Transport *libcoll_way; /* how libcoll's messages go */

extern const mca_coll_base_component_t mca_coll_libcoll_component;

/* --- Being in libcoll --- */

/* How often this thread is in libcoll now. The collectives that libcoll calls there go below. */
extern _Thread_local int libcoll_inside;

/* What that was when this thread came to Open MPI's blocking collective that it is in; else 0. */
extern _Thread_local int libcoll_blocked;

static inline void libcoll_enter(void) {
    if (libcoll_inside++ == 0)
        COLL_Return_errors(1); /* who called the component raises them */
}

static inline void libcoll_leave(void) {
    if (--libcoll_inside == 0)
        COLL_Return_errors(0);
}

/* --- Requests (request.c) --- */

/* A request of Open MPI for one of libcoll's. */
typedef struct libcoll_request {
    ompi_coll_base_nbc_request_t super;
    COLL_Request under_way;
    void *vectors; /* that it needs as long as it lives */
    MPI_Op op;     /* the program may free it before; NULL: none */
    struct libcoll_request *next;
} libcoll_request;
OBJ_CLASS_DECLARATION(libcoll_request);

/* Makes one for an operation on COMM, not begun yet, that reduces by OP; NULL without memory. */
libcoll_request *libcoll_request_make(struct ompi_communicator_t *comm, bool persistent, MPI_Op op);

/*
 * REQUEST->under_way was started, or kept where it is persistent, with CODE: gives it to the
 * program in *HANDLE, or frees it after an error. Returns CODE.
 */
int libcoll_request_hand_out(libcoll_request *request, int code, ompi_request_t **handle);

/* --- Time-outs of calls that pass (timeout.c) --- */

/*
 * The MPI library's own nonblocking call on COMM has given *REQUEST. If COLL_TIMEOUT is set and
 * CALLER, a return address, is in one of MPI's functions, replaces it with one that fails when the
 * time has run out; NAME is the function's, for the error.
 */
void libcoll_end_in_time(struct ompi_communicator_t *comm, const char *name, const void *caller,
                         ompi_request_t **request);

#endif
