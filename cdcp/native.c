#include "config.h"

#include "cdcp/native.h"

#include "lib/base/error.h"

#include <limits.h>
#include <stdlib.h>

int coll_native_make(const char *name, MPI_Count count, MPI_Comm comm, MPI_Request **native) {
    *native = NULL;
    if (count > INT_MAX)
        return coll_raise(comm,
                          coll_error(MPI_ERR_COUNT, "%s: more than %d elements", name, INT_MAX));
    *native = malloc(sizeof **native);
    return *native ? MPI_SUCCESS
                   : coll_raise(comm, coll_error(MPI_ERR_NO_MEM, "no memory for a request"));
}

int coll_native_begun(int code, MPI_Request *native, DCP_Request *request) {
    if (code != MPI_SUCCESS)
        free(native);
    else
        *request = (DCP_Request)(void *)native;
    return code;
}

static MPI_Request *native_of(DCP_Request request) {
    return (MPI_Request *)(void *)request;
}

int coll_native_wait(DCP_Request *request) {
    if (*request == DCP_REQUEST_NULL)
        return MPI_SUCCESS;
    int code = PMPI_Wait(native_of(*request), MPI_STATUS_IGNORE);
    free(native_of(*request));
    *request = DCP_REQUEST_NULL;
    return code;
}

int coll_native_test(DCP_Request *request, int *flag) {
    *flag = 1;
    if (*request == DCP_REQUEST_NULL)
        return MPI_SUCCESS;
    int code = PMPI_Test(native_of(*request), flag, MPI_STATUS_IGNORE);
    if (*flag || code != MPI_SUCCESS) {
        free(native_of(*request));
        *request = DCP_REQUEST_NULL;
    }
    return code;
}
