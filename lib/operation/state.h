/*
 * What operations know of a communicator: its ranks' places, what messages cost, the user's
 * settings, and what was decided last. It hangs on the communicator's state (lib/base/comm.h) and
 * is made with it: rank 0's settings hold for all.
 */
#ifndef COLL_LIB_OPERATION_STATE_H
#define COLL_LIB_OPERATION_STATE_H

#include "lib/base/comm.h"
#include "lib/cost/profile.h"
#include "lib/operation/operation.h"
#include "lib/operation/select.h"
#include "lib/place/topo.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* What was decided last for an operation at sizes from one power of two to the next. */
typedef struct coll_decision {
    size_t bytes;
    int root;
    coll_choice choice; /* for these; no algorithm where nothing was decided */
} coll_decision;
enum { COLL_SIZE_CLASSES = 64 };

typedef struct coll_state {
    coll_comm *comm;
    coll_topo topo;
    const coll_profile *profile; /* the next one */
    coll_profile loaded;
    char topology[4096];              /* the file of racks and sites, or "" */
    char latencies[4096];             /* the file of latencies between sites, or "" */
    coll_spec specs[COLL_OPERATIONS]; /* the user's word */
    /*
     * What lets a small call take the short way (lib/operation/shortcut.h): on one node nobody has
     * asked for anything but the MPI library's own, and the data is of a predefined type without
     * gaps.
     */
    bool stands_back[COLL_OPERATIONS];
    MPI_Datatype plain_type; /* the last such type, and the bytes of an element: 0 for none */
    MPI_Count plain_bytes;
    bool trace; /* this rank prints a line a call */
    coll_decision decisions[COLL_OPERATIONS][COLL_SIZE_CLASSES];
} coll_state;

extern coll_comm_key coll_state_key;

static inline coll_state *coll_state_of(const coll_comm *comm) {
    return coll_comm_slot(comm, &coll_state_key);
}

/*
 * The error that the settings of this process's environment give every communicator on first use,
 * or MPI_SUCCESS; files that they name are not looked at. Local.
 */
int coll_state_check_settings(void);

/* Takes the user's SPEC for OPERATION from now on; SETTING names its source in the error text. */
int coll_state_set(coll_state *state, coll_operation operation, const char *setting,
                   const char *spec);

/* A call of OPERATION with BYTES from or to ROOT, where there is one, as all ranks know it. */
coll_shape coll_state_shape(const coll_state *state, coll_operation operation, size_t bytes,
                            int root);

/* The decision for the size class of BYTES. */
const coll_decision *coll_state_decision(const coll_state *state, coll_operation operation,
                                         size_t bytes);

/* The choice for SHAPE, remembered while calls are of the same size and root. */
coll_choice coll_state_choose(coll_state *state, coll_operation operation, const coll_shape *shape);

#endif
