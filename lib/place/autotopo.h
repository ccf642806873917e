/*
 * Finds racks and sites of nodes by measurement of round trips (lib/place/roundtrip.h). A way
 * through more switches takes a few microseconds longer, one to another site milliseconds.
 *
 * One node at a time measures (lib/place/findracks.h), so that none disturbs another; everybody
 * else sleeps.
 */
#ifndef COLL_LIB_PLACE_AUTOTOPO_H
#define COLL_LIB_PLACE_AUTOTOPO_H

#include "lib/place/findracks.h"

#include <mpi.h>

/* In seconds. */
typedef struct coll_autotopo_limits {
    double longest;  /* after it nothing more is measured */
    double patience; /* who has not answered for so long is silent */
} coll_autotopo_limits;

typedef enum coll_autotopo_end {
    COLL_AUTOTOPO_DONE,
    COLL_AUTOTOPO_LATE,   /* the time was over; nothing is known, */
    COLL_AUTOTOPO_SILENT, /* or a node got no answer from another, */
    COLL_AUTOTOPO_UNABLE  /* or one has no port, no address of its own or no memory */
} coll_autotopo_end;

typedef struct coll_autotopo_report {
    coll_autotopo_end end;
    int missing[2];         /* COLL_AUTOTOPO_SILENT: a node, and the one that did not answer it */
    double seconds;         /* that it took */
    int pairs;              /* rank 0: that were measured */
    coll_racks_found found; /* rank 0 */
} coll_autotopo_report;

/*
 * Sets RACKS and SITES of NODES nodes on rank 0, if they are known at the end. LEADERS are the
 * ranks that measure for the nodes, LEADERS[0] is 0. Collective over COMM, which must return its
 * errors. All ranks get the same error: MPI_ERR_NO_MEM with text, or MPI's.
 */
int coll_autotopo(MPI_Comm comm, int nodes, const int leaders[], coll_autotopo_limits limits,
                  int racks[], int sites[], coll_autotopo_report *report);

#endif
