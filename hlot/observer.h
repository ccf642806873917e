/*
 * Measures latencies for coll-hlot, on the ranks that run it, with the code that the library uses
 * for its own broadcasts.
 */
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
 * Begins on COMM, whose sites COLL_TOPOLOGY sets, by measuring all pairs of sites. Collective.
 * Errors are those of libcoll, and MPI_ERR_TOPOLOGY, with text, if there is only one site or there
 * are too many.
 */
int observer_open(observer *o, MPI_Comm comm);

/* Continues to measure for SECONDS. Collective. */
int observer_run(observer *o, double seconds);

/*
 * On rank 0: writes the current latencies to MATRIX, which the caller frees, with the sites' names
 * site0, site1, ... and their hosts. Returns false if memory is short.
 */
bool observer_read(const observer *o, hlot_matrix *matrix);

#endif
