/* How many threads a rank should use. */
#ifndef COLL_KMEANS_ASSIGN_THREADS_H
#define COLL_KMEANS_ASSIGN_THREADS_H

#include "app/agreement.h"

/*
 * The processors that this rank may use, shared with the ranks of COMM on the same node that may
 * use them too; 1 at least. Collective; on false all ranks have the same problem.
 */
bool km_default_threads(MPI_Comm comm, int *threads, app_problem *problem);

#endif
