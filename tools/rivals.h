/*
 * Open MPI's own broadcasts by forced settings, in the same run: its tuned component reads the
 * forced algorithm and segment size when a communicator is made, and MPI_T can change them between
 * two.
 */
#ifndef COLL_TOOLS_RIVALS_H
#define COLL_TOOLS_RIVALS_H

#include "tools/contender.h"

/* Prepares the environment of this process; call it before MPI_Init. */
void rivals_prepare(void);

/*
 * Adds a contender for each forced broadcast of Open MPI, by algorithm and segment size, and
 * MPI_Ibcast. Under another MPI library only the latter. *FORCED tells how many were forced.
 */
int rivals_add_bcast(contender_list *list, MPI_Comm comm, int *forced);

#endif
