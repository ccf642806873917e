/* The common path of a blocking call of any operation: open, choose, run, trace. */
#ifndef COLL_LIB_CALL_DISPATCH_H
#define COLL_LIB_CALL_DISPATCH_H

#include "lib/algorithm/operations.h"
#include "lib/base/comm.h"

#include <mpi.h>

/*
 * Sets *OWN to COMM's state; to NULL for an intercommunicator, which has none. Collective on first
 * use. Errors have been raised when it returns.
 */
int coll_dispatch_open(MPI_Comm comm, coll_comm **own);

/* The same for the entry NAME, which does not accept intercommunicators. */
int coll_dispatch_open_intra(MPI_Comm comm, const char *name, coll_comm **own);

/*
 * Runs CALL, which is of the operation's own type and refers to SHAPE, with the algorithm chosen
 * for SHAPE, and traces it with this rank's BYTES. If an error may have left messages under way,
 * COMM is broken from then on.
 */
int coll_dispatch_run(coll_comm *comm, coll_operation operation, const coll_shape *shape,
                      size_t bytes, const void *call);

#endif
