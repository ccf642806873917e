/* Latencies as coll-hlot measures them by the library's own service, on the ranks that run it. */
#ifndef COLL_HLOT_OBSERVER_H
#define COLL_HLOT_OBSERVER_H

#include "hlot/matrix.h"
#include "hlot/wide.h"

typedef struct observer {
    MPI_Comm comm;
    int rank;
    hlot_wide *wide;
} observer;

/*
 * Begins on COMM, whose sites COLL_TOPOLOGY tells, with a survey of all pairs of sites; collective.
 * Errors are those of libcoll, and MPI_ERR_TOPOLOGY, with text, where there is only one site or
 * there are too many.
 */
int observer_open(observer *o, MPI_Comm comm);

/* Goes on measuring for SECONDS; collective. */
int observer_run(observer *o, double seconds);

/* Rank 0: what is known, with sites named site0, site1, ... and their hosts. To be freed. */
bool observer_read(const observer *o, hlot_matrix *matrix);

#endif
