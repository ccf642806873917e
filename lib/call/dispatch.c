#include "config.h"

#include "lib/call/dispatch.h"

#include "lib/base/error.h"
#include "lib/tuning/autotune.h"
#include "lib/tuning/state.h"
#include "lib/tuning/trace.h"

int coll_dispatch_open(MPI_Comm comm, coll_comm **own) {
    int inter = 0;
    *own = NULL;
    if (comm == MPI_COMM_NULL)
        return coll_raise(comm, coll_error(MPI_ERR_COMM, "null communicator"));
    int code = PMPI_Comm_test_inter(comm, &inter);
    if (code != MPI_SUCCESS || inter)
        return code;
    return coll_raise(comm, coll_comm_get(comm, own));
}

int coll_dispatch_open_intra(MPI_Comm comm, const char *name, coll_comm **own) {
    int code = coll_dispatch_open(comm, own);
    if (code != MPI_SUCCESS || *own)
        return code;
    return coll_raise(comm, coll_error(MPI_ERR_COMM,
                                       "%s: intercommunicators are not supported; merge them with "
                                       "MPI_Intercomm_merge",
                                       name));
}

int coll_dispatch_run(coll_comm *comm, coll_operation operation, const coll_shape *shape,
                      size_t bytes, const void *call) {
    const coll_operation_info *info = &coll_operations[operation];
    bool learns;
    coll_autotuning *trial = NULL;
    coll_choice choice = coll_state_choose(coll_state_of(comm), operation, shape, &learns);
    int code = learns ? coll_autotune_begin(comm, operation, shape, &choice, &trial) : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return code;
    comm->agreed = false;
    double start = PMPI_Wtime();
    code = info->run(choice.algorithm, call, &choice.values);
    double seconds = PMPI_Wtime() - start;
    if (code == MPI_SUCCESS && trial)
        code = coll_autotune_end(trial, seconds);
    if (code != MPI_SUCCESS && !info->errors_agreed && !comm->agreed)
        comm->broken = code;
    coll_comm_leave_room(comm);
    coll_trace(comm, info->name, shape, bytes, &choice, seconds);
    return code;
}
