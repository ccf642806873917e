/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds this process's open file descriptors, for example the sockets of the MPI library. */
#ifndef COLL_LIB_BASE_DESCRIPTORS_H
#define COLL_LIB_BASE_DESCRIPTORS_H

#include <stdbool.h>

/* Calls VISIT with CONTEXT and each open descriptor until VISIT returns false. Calls it for no
 * descriptor if /proc is not mounted. */
void coll_descriptors_visit(bool (*visit)(void *context, int descriptor), void *context);

#endif
