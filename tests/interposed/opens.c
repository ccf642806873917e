/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls MPI as Python's ctypes does: `opens LIBRARY` opens LIBRARY with dlopen and finds MPI_Init
 * there. Without LIBRARY the program is linked with MPI but does not call it.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int initialized;
    if (argc < 2)
        return MPI_Initialized(&initialized) != MPI_SUCCESS || initialized;
    void *library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*init)(int *, char ***), (*finalize)(void);
    *(void **)&init = dlsym(library, "MPI_Init");
    *(void **)&finalize = dlsym(library, "MPI_Finalize");
    if (init(NULL, NULL) != MPI_SUCCESS || finalize() != MPI_SUCCESS)
        return 1;
    printf("ran\n");
    fflush(stdout);
    return 0;
}
