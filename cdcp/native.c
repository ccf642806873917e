/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/native.h"

#include "lib/base/error.h"

#include <stdlib.h>

int coll_native_start(coll_operation operation, const coll_user *user, MPI_Comm comm,
                      DCP_Request *request) {
    int *none, code;
    MPI_Request *native = malloc(sizeof *native);
    if (!native)
        return coll_raise(comm, coll_error(MPI_ERR_NO_MEM, "no memory for a request"));
    code = coll_native_run(operation, user, comm, native, &none);
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
