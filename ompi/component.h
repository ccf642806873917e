/*
 * The component "libcoll" of Open MPI's framework "coll". It answers for communicators that span
 * hosts, keeps what it displaces there, and takes the program's collectives to libcoll.
 */
#ifndef COLL_OMPI_COMPONENT_H
#define COLL_OMPI_COMPONENT_H

#include "ompi/openmpi.h"

#include "ompi/operations.h"

#include <coll.h>
#include <stdbool.h>
#include <stdint.h>

/* Calls of each operation that libcoll ran, and those that went to what was there before. */
typedef struct libcoll_counts {
    unsigned long served[LIBCOLL_COUNT], passed[LIBCOLL_COUNT];
} libcoll_counts;

extern libcoll_counts libcoll_program_counts; /* of the program's calls */
extern libcoll_counts libcoll_own_counts;     /* of libcoll's, which nobody reads */

typedef struct libcoll_module {
    mca_coll_base_module_t super;
    mca_coll_base_comm_coll_t below; /* the communicator's functions before this module's */
    libcoll_counts *counts;
    bool asked;       /* rank 0's patience is known */
    int64_t patience; /* bytes that go below yet before libcoll sets the communicator up */
    bool known;       /* it has; the next is, on all ranks alike */
    bool passes[LIBCOLL_COUNT]; /* all calls go below at once */
    unsigned sets;              /* after so many calls of COLL_Set */
    bool stays;                 /* whatever is set: to ask anew would take all ranks */
    void *vectors;              /* counts and displacements of a blocking call; NULL: none yet */
} libcoll_module;
OBJ_CLASS_DECLARATION(libcoll_module);

/* A module for COMM, or NULL where there is no need of one or no way to serve it. */
mca_coll_base_module_t *libcoll_comm_query(struct ompi_communicator_t *comm, int *priority);

/* Sets BASE's functions (entries.c). */
void libcoll_set_functions(mca_coll_base_module_t *base);

/*
 * What a call of unknown size counts for, as where ranks know different counts; what every call
 * counts for beside its bytes; and what one counts for that is made to be repeated.
 */
enum { LIBCOLL_UNKNOWN_BYTES = 4096, LIBCOLL_CALL_BYTES = 16 };
#define LIBCOLL_REPEATED_BYTES LIBCOLL_FOR_EVER

/*
 * A call of OPERATION on COMM, which MODULE has not seen to pass at once, goes below; else *CODE
 * says whether libcoll can run it. It may wait for all ranks. BYTES: what it moves, as all ranks
 * know it alike.
 */
bool libcoll_asks_and_passes(libcoll_module *module, libcoll_operation operation,
                             struct ompi_communicator_t *comm, int64_t bytes, int *code);

/* Whether a call that mustn't wait goes below. */
bool libcoll_passes_started(libcoll_module *module, libcoll_operation operation,
                            struct ompi_communicator_t *comm, int64_t bytes);

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
    libcoll_count(&module->counts->passed[operation]);
    return true;
}

/* --- What processes know of each other without a message (peers.c) --- */

/* Bytes that no communicator reaches. */
#define LIBCOLL_FOR_EVER INT64_MAX

/*
 * Tells the other processes, in MPI_Init before they exchange addresses, that this one takes part,
 * with the PATIENCE that it has as a communicator's rank 0, and whether its buffers may lie in the
 * memory of a GPU.
 */
void libcoll_tell(int64_t patience, bool gpu);

/*
 * What rank 0 of COMM told of its patience, 0 where processes of several jobs meet, who were told
 * nothing; a negative number where it doesn't take part. The same on all ranks.
 */
int64_t libcoll_patience_of(struct ompi_communicator_t *comm);

/* Why the processes of a communicator can't use libcoll together. */
typedef enum libcoll_fit {
    LIBCOLL_FITS,
    LIBCOLL_STRANGER, /* one has another libcoll, or none */
    LIBCOLL_GPU       /* one may have buffers that libcoll can't read */
} libcoll_fit;

/* Those of COMM, as the first that doesn't fit has told; the same on all ranks. */
libcoll_fit libcoll_fit_of(struct ompi_communicator_t *comm);

/* --- The parameters (component.c) --- */

extern int libcoll_priority;
extern bool libcoll_strict, libcoll_any_network, libcoll_one_host;

extern const mca_coll_base_component_t mca_coll_libcoll_component;

/* --- Being in libcoll --- */

/*
 * How often this thread is in libcoll now. What libcoll calls there goes below: its own
 * communicators have modules, too, since MPI_Comm_idup of the program may come to query in the
 * midst of libcoll, at times that differ by rank.
 */
extern _Thread_local int libcoll_inside;

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
    struct libcoll_request *next;
} libcoll_request;
OBJ_CLASS_DECLARATION(libcoll_request);

/* One for an operation on COMM, not begun yet; NULL without memory. */
libcoll_request *libcoll_request_make(struct ompi_communicator_t *comm, bool persistent);

/*
 * REQUEST->under_way was started, or kept where it is persistent, with CODE: gives it to the
 * program in *HANDLE, or frees it after an error. Returns CODE.
 */
int libcoll_request_hand_out(libcoll_request *request, int code, ompi_request_t **handle);

#endif
