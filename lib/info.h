/* What public entries that name an operation share. */
#ifndef COLL_LIB_INFO_H
#define COLL_LIB_INFO_H

#include "lib/operation/operations.h"

/* The operation that is called NAME; MPI_ERR_ARG, not raised, with the names that are known. */
int coll_find_operation(const char *name, coll_operation *operation);

#endif
