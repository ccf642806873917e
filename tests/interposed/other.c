/* Preloaded, it makes a program look as if it ran with another MPI library. */
#include <mpi.h>
#include <string.h>

int PMPI_Get_library_version(char *version, int *length) {
    strcpy(version, "SomeMPI Version: 7.1");
    *length = (int)strlen(version);
    return MPI_SUCCESS;
}
