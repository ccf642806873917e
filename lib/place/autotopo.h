/*
 * Finds the racks and sites of nodes by measuring round trips (lib/place/roundtrip.h). A path
 * through more switches takes a few microseconds longer, a path to another site milliseconds.
 *
 * Only one node measures at a time (lib/place/findracks.h), so that no measurement disturbs
 * another; all other ranks sleep.
 */
#ifndef COLL_LIB_PLACE_AUTOTOPO_H
#define COLL_LIB_PLACE_AUTOTOPO_H

#include "lib/place/findracks.h"

#include <mpi.h>

/* Time limits, in seconds. */
typedef struct coll_autotopo_limits {
    double longest;  /* no measurement begins later than this */
    double patience; /* a node that has not answered within this time is silent */
} coll_autotopo_limits;

typedef enum coll_autotopo_end {
    COLL_AUTOTOPO_DONE,
    COLL_AUTOTOPO_LATE,   /* the time ran out: nothing was found */
    COLL_AUTOTOPO_SILENT, /* a node got no answer from another: nothing was found */
    /* a node has no free port, no address of its own or no memory: nothing was found */
    COLL_AUTOTOPO_UNABLE
} coll_autotopo_end;

typedef struct coll_autotopo_report {
    coll_autotopo_end end;
    /* for COLL_AUTOTOPO_SILENT: a node, and the one that did not answer it */
    int missing[2];
    double seconds;         /* duration */
    int pairs;              /* on rank 0: pairs of nodes measured */
    coll_racks_found found; /* on rank 0: the result */
} coll_autotopo_report;

/*
 * Sets RACKS and SITES of NODES nodes on rank 0, if REPORT->end is COLL_AUTOTOPO_DONE.
 * LEADERS[node] is the rank that measures for the node; LEADERS[0] is 0. Collective over COMM,
 * whose error handler must return errors. All ranks get the same error: MPI_ERR_NO_MEM with text,
 * or MPI's.
 */
int coll_autotopo(MPI_Comm comm, int nodes, const int leaders[], coll_autotopo_limits limits,
                  int racks[], int sites[], coll_autotopo_report *report);

#endif
