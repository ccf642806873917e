/* The usual way of a call, the same for all operations: open, choose, run, trace. */
#ifndef COLL_LIB_OPERATION_CALL_H
#define COLL_LIB_OPERATION_CALL_H

#include "lib/base/comm.h"
#include "lib/operation/operations.h"

#include <mpi.h>

/*
 * The state of COMM; *OWN is NULL where it is an intercommunicator, which has none. Collective on
 * first use. Errors are raised already.
 */
int coll_call_open(MPI_Comm comm, coll_comm **own);

/* The same for the entry NAMED so, which doesn't take intercommunicators. */
int coll_call_open_intra(MPI_Comm comm, const char *name, coll_comm **own);

/*
 * Runs CALL, which is of the operation's own type and refers to SHAPE, by the algorithm that is
 * chosen for SHAPE, and traces it with this rank's BYTES. COMM can't be used any more where an
 * error may have left messages under way.
 */
int coll_call_run(coll_comm *comm, coll_operation operation, const coll_shape *shape, size_t bytes,
                  const void *call);

#endif
