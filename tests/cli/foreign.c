/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pretends to be a libcoll for another MPI library, in everything that the Python package checks
 * before it calls it.
 */
#include <mpi.h>
#include <string.h>

const char *COLL_Version(void);
const char *COLL_Version(void) {
    return "0.1.0";
}

int MPI_Get_library_version(char *version, int *length) {
    strcpy(version, "SomeMPI 7.1, and what it was built with\n");
    *length = (int)strlen(version);
    return MPI_SUCCESS;
}
