/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ with Open MPI. The C++ bindings give the library their own functions as callbacks, which make
 * an object from the communicator's handle and call the program's function. The functions here have
 * the same names as the bindings' functions, and call these with the communicator that the program
 * sees.
 */
#include "config.h"

#include "cdcp/pmpi/world.h"

#include <dlfcn.h>

typedef void error_function(MPI_Comm *comm, int *code, const char *message, void *function);
typedef int copy_function(MPI_Comm comm, int keyval, void *extra, void *from, void *to, int *flag,
                          MPI_Comm copy);
error_function ompi_mpi_cxx_comm_errhandler_invoke;
copy_function ompi_mpi_cxx_comm_copy_attr_intercept;
MPI_Comm_delete_attr_function ompi_mpi_cxx_comm_delete_attr_intercept;

void ompi_mpi_cxx_comm_errhandler_invoke(MPI_Comm *comm, int *code, const char *message,
                                         void *function) {
    error_function *below;
    *(void **)&below = dlsym(RTLD_NEXT, "ompi_mpi_cxx_comm_errhandler_invoke");
    MPI_Comm shown = coll_world_shown(*comm);
    below(&shown, code, message, function);
}

int ompi_mpi_cxx_comm_copy_attr_intercept(MPI_Comm comm, int keyval, void *extra, void *from,
                                          void *to, int *flag, MPI_Comm copy) {
    copy_function *below;
    *(void **)&below = dlsym(RTLD_NEXT, "ompi_mpi_cxx_comm_copy_attr_intercept");
    return below(coll_world_shown(comm), keyval, extra, from, to, flag, copy);
}

int ompi_mpi_cxx_comm_delete_attr_intercept(MPI_Comm comm, int keyval, void *value, void *extra) {
    MPI_Comm_delete_attr_function *below;
    *(void **)&below = dlsym(RTLD_NEXT, "ompi_mpi_cxx_comm_delete_attr_intercept");
    return below(coll_world_shown(comm), keyval, value, extra);
}
