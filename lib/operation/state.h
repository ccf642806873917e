/*
 * What operations know of a communicator: its ranks' places, what messages cost, the user's
 * settings, and what was decided. It hangs on the communicator's state (lib/base/comm.h) and
 * is made with it: rank 0's settings hold for all.
 */
#ifndef COLL_LIB_OPERATION_STATE_H
#define COLL_LIB_OPERATION_STATE_H

#include "lib/base/comm.h"
#include "lib/cost/profile.h"
#include "lib/operation/common.h"
#include "lib/operation/decisions.h"
#include "lib/operation/operations.h"
#include "lib/operation/settings.h"
#include "lib/place/topo.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct coll_state {
    coll_comm *comm;
    coll_topo topo;
    coll_common *common;          /* with others; NULL for a part */
    const coll_profile *profile;  /* COMMON's or that of the whole, or OWN_PROFILE */
    coll_profile *own_profile;    /* with latencies between sites; NULL: none were measured */
    const coll_spec *specs;       /* what the user asked for: those of SETTINGS */
    coll_decisions *decisions;    /* with others; NULL: not looked for yet, or no memory */
    bool native[COLL_OPERATIONS]; /* every call is, and may go to the MPI library directly */
    coll_shape last_native[COLL_OPERATIONS]; /* call that was; of no bytes: none */
    MPI_Datatype plain_type; /* the last predefined type without gaps, and the bytes of an */
    MPI_Count plain_bytes;   /* element: 0 for none */
    MPI_Op known_op;         /* the last one that was found to go with a type, and that type */
    MPI_Datatype known_type;
    const coll_agreed_settings *settings; /* the job's, or OWN_SETTINGS */
    coll_agreed_settings *own_settings;
    unsigned warned[2]; /* of which operations' calls that block, and that are started */
    bool set;           /* COLL_Set has named an algorithm */
    bool trace;         /* rank 0 prints a line a call */
} coll_state;

extern coll_comm_key coll_state_key;

static inline coll_state *coll_state_of(const coll_comm *comm) {
    return coll_comm_slot(comm, &coll_state_key);
}

/* Takes the user's SPEC for OPERATION from now on; SETTING names its source in the error text. */
int coll_state_set(coll_state *state, coll_operation operation, const char *setting,
                   const char *spec);

/*
 * Whether every call of OPERATION goes to the MPI library's own, by what was asked for and where
 * the ranks are: the same on all ranks.
 */
bool coll_state_always_native(const coll_state *state, coll_operation operation);

/* A call of OPERATION with BYTES from or to ROOT, where there is one, as all ranks know it. */
coll_shape coll_state_shape(const coll_state *state, coll_operation operation, size_t bytes,
                            int root);

/* What may run CALL, the most likely first, by predictions or by what the user asked for. */
coll_choices coll_state_likely(coll_state *state, coll_operation operation, const coll_shape *call);

/* The choice for CALL. *LEARNS: coll_learn_begin has the last word. */
coll_choice coll_state_choose(coll_state *state, coll_operation operation, const coll_shape *call,
                              bool *learns);

/* The same for a call that is started, or what was learnt of calls that block. */
coll_choice coll_state_choose_started(coll_state *state, coll_operation operation,
                                      const coll_shape *call);

/* Whether the last call of OPERATION that was native was like CALL. */
static inline bool coll_state_native_again(const coll_state *state, coll_operation operation,
                                           const coll_shape *call) {
    return coll_select_same(&state->last_native[operation], call);
}

/* Whether a call with BYTES from or to ROOT is native, by what was decided so far. */
static inline bool coll_state_native(const coll_state *state, coll_operation operation,
                                     size_t bytes, int root) {
    return state->native[operation] ||
           coll_state_native_again(state, operation, &(coll_shape){.bytes = bytes, .root = root});
}

#endif
