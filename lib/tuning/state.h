/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations' data of a communicator: its topology, profile, settings and cached choices. This
 * data is a slot of the communicator's state (lib/base/comm.h), and is made together with that
 * state. Rank 0's settings hold for all ranks.
 */
#ifndef COLL_LIB_TUNING_STATE_H
#define COLL_LIB_TUNING_STATE_H

#include "lib/algorithm/operations.h"
#include "lib/base/comm.h"
#include "lib/comm/job_cache.h"
#include "lib/comm/settings.h"
#include "lib/cost/profile.h"
#include "lib/topology/topo.h"
#include "lib/tuning/choice_cache.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls of an operation that the MPI library is known to run: those of LEAST to MOST bytes, in a
 * reduction with these properties. MOST 0: none. */
typedef struct coll_native_calls {
    size_t least, most;
    size_t element; /* bytes; COLL_NUMBER_BYTES for all number types */
    size_t served;  /* coll_shape's */
    bool ordered;   /* the MPI_Op does not commute */
} coll_native_calls;

/* Returns the element size of native calls whose elements have BYTES. */
static inline size_t coll_native_element(size_t bytes) {
    return bytes > COLL_NUMBER_BYTES ? bytes : COLL_NUMBER_BYTES;
}

typedef struct coll_state {
    coll_comm *comm;
    coll_topo topo;
    coll_job_cache *common;       /* shared; NULL for a sub-communicator of libcoll's own */
    const coll_profile *profile;  /* that of COMMON or of the whole communicator, or OWN_PROFILE */
    coll_profile *own_profile;    /* with measured latencies between sites; NULL: none */
    const coll_spec *specs;       /* the algorithms that the user asked for, from SETTINGS */
    uint64_t key;                 /* of the cached choices; 0: none yet */
    bool native[COLL_OPERATIONS]; /* an operation's calls may go to the MPI library directly */
    coll_native_calls native_calls[COLL_OPERATIONS];
    MPI_Datatype plain_type; /* the last datatype found to be predefined and without gaps */
    MPI_Count plain_bytes;   /* bytes of its elements; 0: no such type yet */
    MPI_Op known_op;         /* the last MPI_Op found to be valid with a datatype */
    MPI_Datatype known_type; /* that datatype */
    const coll_agreed_settings *settings; /* the job's, or OWN_SETTINGS */
    coll_agreed_settings *own_settings;
    unsigned warned[2]; /* bit sets of operations with a warning: [0] for blocking calls, [1] for
                           others */
    bool set;           /* COLL_Set has named an algorithm */
    bool trace;         /* rank 0 prints a line for each call */
} coll_state;

extern coll_comm_key coll_state_key;

static inline coll_state *coll_state_of(const coll_comm *comm) {
    return coll_comm_slot(comm, &coll_state_key);
}

/* Returns whether OPERATION's algorithm may change from call to call. A reduction's may change only
 * if the user permits other last bits (COLL_LEARN=all). */
static inline bool coll_state_may_try(const coll_state *state, coll_operation operation) {
    return !coll_operations[operation].reduces || state->settings->learn == COLL_AUTOTUNE_ALL;
}

/* Sets the user's SPEC for OPERATION from now on. SETTING names its source in error texts. Returns
 * MPI_ERR_ARG or MPI_ERR_NO_MEM. */
int coll_state_set(coll_state *state, coll_operation operation, const char *setting,
                   const char *spec);

/*
 * Returns whether every call of OPERATION runs natively, because the user asked for the native
 * algorithm, or because the user asked neither for an algorithm nor for reproducible reductions and
 * all ranks are on one node. The result is the same on all ranks.
 */
bool coll_state_always_native(const coll_state *state, coll_operation operation);

/* Returns the shape of a call of OPERATION with BYTES. ROOT is ignored if OPERATION has no root. */
coll_shape coll_state_shape(const coll_state *state, coll_operation operation, size_t bytes,
                            int root);

/* Returns the choice for CALL, and the other algorithms that may be faster. If STARTED, CALL is
 * nonblocking or persistent, and only the choice is returned. */
coll_choices coll_state_likely(coll_state *state, bool started, const coll_shape *call);

/* Returns the choice for the blocking call CALL. If this sets *LEARNS to true, the caller must pass
 * the choice to coll_autotune_begin. */
coll_choice coll_state_choose(coll_state *state, const coll_shape *call, bool *learns);

/* Returns the choice for the nonblocking or persistent call CALL. It may result from tuning
 * blocking calls. */
coll_choice coll_state_choose_started(coll_state *state, const coll_shape *call);

/* Returns whether the MPI library is known to run OPERATION's calls of BYTES. Those of a reduction
 * must also have the other properties of its native calls. */
static inline bool coll_state_is_native(const coll_state *state, coll_operation operation,
                                        size_t bytes) {
    const coll_native_calls *calls = &state->native_calls[operation];
    return bytes >= calls->least && bytes <= calls->most;
}

#endif
