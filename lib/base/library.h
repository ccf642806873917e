/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks which MPI library the program runs with: the handles that libcoll was compiled with are
 * valid in the library it was built for, and in no other.
 */
#ifndef COLL_LIB_BASE_LIBRARY_H
#define COLL_LIB_BASE_LIBRARY_H

#include <stdbool.h>

/*
 * Exits with an error unless the running MPI library's version string begins with BUILT. Prints one
 * line for the whole job. May be called before MPI_Init. A shared libcoll calls it when it is
 * loaded; a static one does not, because it is linked together with its MPI library.
 */
void coll_library_check(const char *built);

/*
 * Returns whether this process prints messages for the job. Works without MPI: reads the launcher's
 * environment variables.
 */
bool coll_library_is_speaker(void);

#endif
