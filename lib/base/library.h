/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks which MPI library the program runs with: the handles that libcoll was compiled with are
 * valid in the library it was built for, and in no other. If libcoll was built for the MPI ABI, the
 * handles are valid in all libraries with that ABI.
 */
#ifndef COLL_LIB_BASE_LIBRARY_H
#define COLL_LIB_BASE_LIBRARY_H

#include <stdbool.h>

/*
 * Returns whether the program runs with an MPI library that this build is not for. If so, prints
 * one line for the whole job, with CONSEQUENCE: "" or "stands aside: ". A build for the MPI ABI is
 * for all libraries with this ABI; another build is for the libraries without the MPI ABI whose
 * version string begins with BUILT. May be called before MPI_Init.
 */
bool coll_library_differs(const char *built, const char *consequence);

/*
 * Returns whether this process prints messages for the job. Works without MPI: reads the launcher's
 * environment variables.
 */
bool coll_library_is_speaker(void);

#endif
