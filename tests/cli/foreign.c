/* A libcoll of another MPI library, as far as the Python package looks at it before it calls it. */
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
