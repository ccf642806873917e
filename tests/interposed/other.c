/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is preloaded to make a program appear to run with another MPI library. The description of that
 * library, like MPICH's, is longer than Open MPI's MPI_MAX_LIBRARY_VERSION_STRING. COLL_TEST_MPI is
 * the beginning of the description. With COLL_TEST_ABI that library has the MPI ABI.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 8191 };

int PMPI_Get_library_version(char *version, int *length) {
    const char *asked = getenv("COLL_TEST_MPI"), *text = asked ? asked : "SomeMPI Version: 7.1\n";
    memset(version, '-', LENGTH);
    memcpy(version, text, strlen(text));
    version[LENGTH] = '\0';
    *length = LENGTH;
    return MPI_SUCCESS;
}

int PMPI_Abi_get_version(int *major, int *minor);
int PMPI_Abi_get_version(int *major, int *minor) {
    *major = getenv("COLL_TEST_ABI") ? 1 : -1;
    *minor = getenv("COLL_TEST_ABI") ? 0 : -1;
    return MPI_SUCCESS;
}
