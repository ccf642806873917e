/*
 * Racks and sites of nodes by measurement of round trips (lib/place/roundtrip.h). A way through
 * more switches takes a few microseconds longer, one to another site milliseconds.
 *
 * Some nodes, the pivots, measure their round trips to others, one pair at a time so that none
 * disturbs another; everybody else sleeps. Three pivots measure all others; then each node that is
 * in nobody's rack yet measures the rest of those; then pairs of racks are measured between members
 * drawn by lot until nothing changes. With R racks of equal size that is about (R / 2 + 3) * nodes
 * pairs of a millisecond each. After a minute it ends with what is known.
 */
#ifndef COLL_LIB_PLACE_AUTOTOPO_H
#define COLL_LIB_PLACE_AUTOTOPO_H

#include "lib/place/cluster.h"

#include <mpi.h>

typedef struct coll_autotopo_report {
    coll_clusters found;
    double seconds; /* that it took */
    int pairs;      /* that were measured */
    bool complete;  /* false when the minute was over first */
} coll_autotopo_report;

/*
 * Sets RACKS and SITES of NODES nodes on rank 0 (lib/place/cluster.h). LEADERS are the ranks that
 * measure for the nodes, LEADERS[0] is 0; HOSTS are the names by which the nodes reach each other.
 * Collective over COMM, which must return its errors. All ranks get the same error: MPI_ERR_NO_MEM,
 * MPI_ERR_OTHER when a node cannot reach another, with text, or MPI's.
 */
int coll_autotopo(MPI_Comm comm, int nodes, char *const hosts[], const int leaders[], int racks[],
                  int sites[], coll_autotopo_report *report);

#endif
