/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding an operation by its name, for public entries. */
#ifndef COLL_LIB_API_INFO_H
#define COLL_LIB_API_INFO_H

#include "lib/algorithm/operations.h"

/* Sets *OPERATION to the operation NAME. If NAME is unknown, returns MPI_ERR_ARG without calling
 * the error handler; the error text lists the known names. */
int coll_find_operation(const char *name, coll_operation *operation);

#endif
