/* Waiting that leaves the processor to whoever is being measured. */
#ifndef COLL_TOOLS_ASLEEP_H
#define COLL_TOOLS_ASLEEP_H

#include <mpi.h>

/* Waits for *REQUEST with sleeps of NAP seconds (below 1) between tests. */
int wait_asleep(MPI_Request *request, double nap);

#endif
