/* Finding an operation by its name, for public entries. */
#ifndef COLL_LIB_API_INFO_H
#define COLL_LIB_API_INFO_H

#include "lib/algorithm/operations.h"

/* Sets *OPERATION to the operation NAME. Returns MPI_ERR_ARG, not raised, with the known names. */
int coll_find_operation(const char *name, coll_operation *operation);

#endif
