/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers with MPICH and with the MPI ABI. MPICH holds the communicator's lock while it
 * calls an error handler, so the handler cannot ask MPICH which error handler the communicator has.
 * So each function of the program gets a stand-in of ours. When all stand-ins are in use, the
 * MPI library calls further functions directly, with the communicator that stands for
 * MPI_COMM_WORLD.
 */
#include "config.h"

#include "cdcp/pmpi/callbacks.h"
#include "cdcp/pmpi/world.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { STAND_INS = 16 };
static coll_function *_Atomic functions[STAND_INS];

static void call_shown(int i, MPI_Comm *comm, int *code) {
    MPI_Comm shown = coll_world_shown(*comm);
    ((MPI_Comm_errhandler_function *)functions[i])(&shown, code);
}

#define STAND_IN(i)                                                                                \
    static void stand_in_##i(MPI_Comm *comm, int *code, ...) {                                     \
        call_shown(i, comm, code);                                                                 \
    }
#define EACH(do_)                                                                                  \
    do_(0) do_(1) do_(2) do_(3) do_(4) do_(5) do_(6) do_(7) do_(8) do_(9) do_(10) do_(11) do_(12)  \
        do_(13) do_(14) do_(15)
EACH(STAND_IN)
#define NAME(i) stand_in_##i,
static MPI_Comm_errhandler_function *const stand_ins[STAND_INS] = {EACH(NAME)};

static MPI_Comm_errhandler_function *stand_in(coll_function *function) {
    for (int i = 0; i < STAND_INS; i++) {
        coll_function *there = NULL;
        if (atomic_compare_exchange_strong(&functions[i], &there, function) || there == function)
            return stand_ins[i];
    }
    return (MPI_Comm_errhandler_function *)function;
}

coll_function *coll_callbacks_behind(coll_function *function) {
    for (int i = 0; i < STAND_INS; i++)
        if (function == (coll_function *)stand_ins[i])
            return functions[i];
    return function;
}

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler) {
    bool substituted = coll_dcp_substituted.app != MPI_COMM_NULL && function;
    return PMPI_Comm_create_errhandler(substituted ? stand_in((coll_function *)function) : function,
                                       handler);
}
