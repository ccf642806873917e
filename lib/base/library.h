/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks which MPI library the program runs with: the handles that libcoll was compiled with are
 * valid in the library it was built for, and in no other. If it was built for the MPI ABI, they are
 * valid in all libraries that have it.
 */
#ifndef COLL_LIB_BASE_LIBRARY_H
#define COLL_LIB_BASE_LIBRARY_H

#include <stdbool.h>

/*
 * Returns whether the version string of the running MPI library doesn't begin with BUILT, or it has
 * another MPI ABI than this build. If so, prints one line for the whole job, with CONSEQUENCE: ""
 * or "stands aside: ". May be called before MPI_Init.
 */
bool coll_library_differs(const char *built, const char *consequence);

/*
 * Returns whether this process prints messages for the job. Works without MPI: reads the launcher's
 * environment variables.
 */
bool coll_library_is_speaker(void);

#endif
