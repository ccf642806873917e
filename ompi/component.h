/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component "libcoll" of Open MPI's framework "coll". On communicators that span hosts it saves
 * the previous functions of the collectives and replaces them with its own, which run the program's
 * collectives with libcoll.
 */
#ifndef COLL_OMPI_COMPONENT_H
#define COLL_OMPI_COMPONENT_H

#include "ompi/openmpi.h"

#include "ompi/operations.h"
#include "ompi/transport.h"

#include <coll.h>
#include <coll_component.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Numbers of calls of each operation that libcoll ran, and that it passed to the previous
 * functions.
 */
typedef struct libcoll_counts {
    unsigned long served[LIBCOLL_COUNT], passed[LIBCOLL_COUNT];
} libcoll_counts;

extern libcoll_counts libcoll_program_counts;

/* The saved entries of a communicator's table: for each of them, the function and its module. */
typedef struct libcoll_below {
#define ENTRY(entry)                                                                               \
    __typeof__(((mca_coll_base_comm_coll_t *)NULL)->coll_##entry) coll_##entry;                    \
    mca_coll_base_module_t *coll_##entry##_module;
#define KINDS(function) ENTRY(function) ENTRY(i##function) ENTRY(function##_init)
    LIBCOLL_FUNCTIONS(KINDS)
#undef KINDS
#undef ENTRY
} libcoll_below;

typedef struct libcoll_module {
    mca_coll_base_module_t super;
    libcoll_below below; /* the communicator's functions before this module's */
    /* whether PASSES, SETS and STAYS are set; they are the same on all ranks */
    bool known;
    bool passes[LIBCOLL_COUNT]; /* all calls of the operation are passed on */
    unsigned sets;              /* number of calls of COLL_Set when PASSES was determined */
    bool stays;                 /* PASSES is valid whatever COLL_Set has changed */
    /* converted counts and displacements of a blocking call; NULL before the first */
    void *vectors;
} libcoll_module;
OBJ_CLASS_DECLARATION(libcoll_module);

/* Returns a module for COMM, or NULL if COMM doesn't need one or can't be served. */
mca_coll_base_module_t *libcoll_comm_query(struct ompi_communicator_t *comm, int *priority);

/* Sets BASE's functions (entries.c). */
void libcoll_set_functions(mca_coll_base_module_t *base);

/*
 * Returns whether a call of OPERATION on COMM is passed to the previous function; to be called if
 * libcoll_passes has returned false. *CODE must be MPI_SUCCESS before; on an error, sets *CODE and
 * returns false. Local; the result is the same on all ranks.
 */
bool libcoll_asks_and_passes(libcoll_module *module, libcoll_operation operation,
                             struct ompi_communicator_t *comm, int *code);

/*
 * Makes libcoll exchange what all processes need to know of each other, if they can use libcoll
 * together, and starts the report and the record. Called at the end of MPI_Init. Collective over
 * MPI_COMM_WORLD.
 */
void libcoll_set_up_job(void);

extern const unsigned *libcoll_sets; /* points to the number of calls of COLL_Set so far */

static inline bool libcoll_is_recent(const libcoll_module *module) {
    return module->sets == __atomic_load_n(libcoll_sets, __ATOMIC_RELAXED) || module->stays;
}

static inline void libcoll_count(unsigned long *count) {
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/*
 * Returns whether this rank already knows that calls of OPERATION are passed to the previous
 * function, and counts such a call.
 */
static inline bool libcoll_passes(libcoll_module *module, libcoll_operation operation) {
    if (!module->passes[operation] || !libcoll_is_recent(module))
        return false;
    libcoll_count(&libcoll_program_counts.passed[operation]);
    return true;
}

/* --- The report (COLL_REPORT) --- */

/* True from the end of MPI_Init if calls are recorded, also those that are passed on. */
extern bool libcoll_reports;

/* The number of each operation for COLL_Report_end. */
extern int libcoll_report_numbers[LIBCOLL_COUNT];

/* --- What processes know of each other without messages (peers.c) --- */

/*
 * What a process publishes. The other processes use takes_part, one_host, reports and records of
 * the job's first process.
 */
typedef struct libcoll_word {
    bool gpu; /* its buffers may be in GPU memory */
    bool takes_part, one_host;
    bool reports; /* COLL_REPORT is set */
    bool records; /* COLL_RECORD is set */
} libcoll_word;

/* Publishes WORD to the other processes, in MPI_Init before they exchange addresses. */
void libcoll_tell(const libcoll_word *word);

/*
 * Returns what the job's first process has published, except gpu, which is always false. Returns
 * all false if that process has published nothing.
 */
const libcoll_word *libcoll_first_word(void);

/* Whether the processes of a job can use libcoll together and, if not, why. */
typedef enum libcoll_fit {
    LIBCOLL_FITS,
    LIBCOLL_STRANGER, /* a process has another version of libcoll, or none */
    LIBCOLL_GPU       /* a process may have buffers that libcoll can't read */
} libcoll_fit;

/*
 * Returns whether this job's RANKS processes can use libcoll together. If not, returns the reason
 * of the lowest rank that can't, as this process sees it. Either all processes get LIBCOLL_FITS or
 * none does.
 */
libcoll_fit libcoll_find_fit(int ranks);

/* --- The parameters (component.c) --- */

extern int libcoll_priority;
extern bool libcoll_strict, libcoll_any_network;
extern const COLL_Transport *libcoll_way; /* the transport of libcoll's messages */

extern const mca_coll_base_component_t mca_coll_libcoll_component;

/* --- Calls within libcoll --- */

/*
 * How many calls of libcoll this thread is in. Collectives that libcoll itself calls are passed to
 * the previous functions.
 */
extern _Thread_local int libcoll_inside;

/*
 * The value of libcoll_inside when this thread entered the blocking collective of Open MPI that it
 * is in; otherwise 0.
 */
extern _Thread_local int libcoll_blocked;

static inline void libcoll_enter(void) {
    if (libcoll_inside++ == 0)
        /* the MPI layer, which called the component, invokes the error handler */
        COLL_Return_errors(1);
}

static inline void libcoll_leave(void) {
    if (--libcoll_inside == 0)
        COLL_Return_errors(0);
}

/* --- Requests (request.c) --- */

/* A request of Open MPI that represents one of libcoll's. */
typedef struct libcoll_request {
    ompi_coll_base_nbc_request_t super;
    COLL_Request under_way;
    void *vectors; /* counts and displacements, which UNDER_WAY needs */
    /*
     * references to a reduction's operation and datatype, which the program may free before the
     * request is complete; NULL if none
     */
    MPI_Op op;
    MPI_Datatype type;
    struct libcoll_request *next;
} libcoll_request;
OBJ_CLASS_DECLARATION(libcoll_request);

/*
 * Returns a new request for an operation on COMM that has not begun and that reduces TYPE with OP,
 * or NULL if memory is short. OP may be MPI_OP_NULL.
 */
libcoll_request *libcoll_request_make(struct ompi_communicator_t *comm, bool persistent, MPI_Op op,
                                      MPI_Datatype type);

/*
 * Ends the creation of REQUEST. CODE is the result of the call that has started its under_way or,
 * if REQUEST is persistent, has initialised it. Gives REQUEST to the program in *HANDLE or, after
 * an error, frees REQUEST. Returns CODE.
 */
int libcoll_request_hand_out(libcoll_request *request, int code, ompi_request_t **handle);

/*
 * Initialises the members of HANDLE that Open MPI itself uses, for an inactive request on COMM.
 * Open MPI calls START to start it, if it is persistent, and RELEASE to free it. It can't be
 * cancelled.
 */
void libcoll_request_init(ompi_request_t *handle, struct ompi_communicator_t *comm, bool persistent,
                          ompi_request_start_fn_t start, ompi_request_free_fn_t release);
void libcoll_request_mark_active(ompi_request_t *handle);

/* --- Timeouts of calls that are passed on (timeout.c) --- */

/*
 * Adds a timeout to a nonblocking call on COMM that was passed on and has returned *REQUEST. If
 * COLL_TIMEOUT is set and CALLER, a return address, is in one of MPI's nonblocking functions,
 * replaces *REQUEST with a request that fails when the time has run out. NAME is the function's
 * name, for the error.
 */
void libcoll_end_in_time(struct ompi_communicator_t *comm, const char *name, const void *caller,
                         ompi_request_t **request);

#endif
