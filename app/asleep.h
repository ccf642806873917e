/* Waiting that leaves the processor to whoever is being measured. */
#ifndef COLL_APP_ASLEEP_H
#define COLL_APP_ASLEEP_H

#include <mpi.h>

/*
 * Waits for *REQUEST with sleeps between tests: of NAP seconds (below 1) at first, then each twice
 * as long as the last until they are LONGEST or more.
 */
int wait_asleep(MPI_Request *request, double nap, double longest);

#endif
