#include "config.h"

#include "coll.h"
#include "lib/aggregate/aggregate.h"
#include "lib/comm.h"
#include "lib/error.h"

static int aggregate(COLL_Pool *pool, int root, MPI_Comm comm, COLL_Aggregate_stats *stats) {
    int is_inter;
    int code = PMPI_Comm_test_inter(comm, &is_inter);
    if (code != MPI_SUCCESS)
        return code;
    if (is_inter)
        return coll_error(MPI_ERR_COMM, "COLL_Aggregate: intercommunicators are not supported; "
                                        "merge them with MPI_Intercomm_merge");
    coll_comm *state;
    code = coll_comm_get(comm, &state);
    if (code != MPI_SUCCESS)
        return code;
    return coll_aggregate_run(pool, root, state, coll_aggregate_algorithms[0], NULL, stats);
}

int COLL_Aggregate(COLL_Pool *pool, int root, MPI_Comm comm, COLL_Aggregate_stats *stats) {
    if (comm == MPI_COMM_NULL)
        return coll_raise(MPI_COMM_WORLD,
                          coll_error(MPI_ERR_COMM, "COLL_Aggregate: the communicator is null"));
    return coll_raise(comm, aggregate(pool, root, comm, stats));
}
