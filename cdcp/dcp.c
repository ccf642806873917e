/* The start and the end of dedicated collective processors. */
#include "config.h"

#include "cdcp/dcp.h"

#include "cdcp/mapping.h"
#include "lib/comm.h"
#include "lib/error.h"

#include <stdlib.h>

coll_dcp_substitute coll_dcp_substituted = {MPI_COMM_NULL, MPI_COMM_NULL};
coll_dcp_range coll_dcp_arena;
static MPI_Comm stop_comm;

int coll_dcp_start(const char *spec, MPI_Comm world, MPI_Comm *app) {
    coll_comm *state;
    coll_mapping_wish wish;
    coll_mapping mapping;
    char problem[200];
    int code = coll_comm_get(world, &state);
    if (code != MPI_SUCCESS)
        return code;
    if (!coll_mapping_parse(spec, &wish, problem, sizeof problem))
        return coll_error(MPI_ERR_ARG, "%s", problem);
    int *node_of = malloc((size_t)state->ranks * sizeof *node_of);
    for (int i = 0; i < state->ranks; i++)
        node_of[i] = state->topo.places[i].node;
    bool good = coll_mapping_make(&wish, state->ranks, node_of, &mapping, problem, sizeof problem);
    free(node_of);
    if (!good)
        return coll_error(MPI_ERR_ARG, "%s", problem);
    bool serves = mapping.dcp_of[state->rank] < 0;
    coll_mapping_free(&mapping);
    stop_comm = state->private;
    code = PMPI_Comm_split(world, serves ? MPI_UNDEFINED : 0, state->rank, app);
    if (!serves && code == MPI_SUCCESS)
        coll_dcp_substituted = (coll_dcp_substitute){world, *app};
    return code;
}

int coll_dcp_serve(void) {
    return PMPI_Barrier(stop_comm);
}

int coll_dcp_stop(void) {
    PMPI_Comm_free(&coll_dcp_substituted.app);
    coll_dcp_substituted = (coll_dcp_substitute){MPI_COMM_NULL, MPI_COMM_NULL};
    return PMPI_Barrier(stop_comm);
}

int coll_dcp_register(MPI_Comm comm) {
    (void)comm;
    return MPI_SUCCESS;
}

bool coll_dcp_takes(MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    (void)count, (void)type, (void)op, (void)comm;
    return false;
}

static int refuse(coll_dcp_request **request) {
    *request = NULL;
    return coll_error(MPI_ERR_OTHER, "no dedicated processor takes it");
}

int coll_dcp_post(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm, coll_dcp_request **request) {
    (void)sendbuf, (void)recvbuf, (void)count, (void)type, (void)op, (void)comm;
    return refuse(request);
}

int coll_dcp_prepare(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm, coll_dcp_request **request) {
    (void)sendbuf, (void)recvbuf, (void)count, (void)type, (void)op, (void)comm;
    return refuse(request);
}

int coll_dcp_begin(coll_dcp_request *request) {
    return refuse(&request);
}

int coll_dcp_release(coll_dcp_request **request) {
    *request = NULL;
    return MPI_SUCCESS;
}

bool coll_dcp_persistent(const coll_dcp_request *request) {
    return !request;
}

bool coll_dcp_active(const coll_dcp_request *request) {
    return !request;
}

MPI_Comm coll_dcp_request_comm(const coll_dcp_request *request) {
    (void)request;
    return MPI_COMM_NULL;
}

bool coll_dcp_ready(coll_dcp_request *request) {
    return !request;
}

int coll_dcp_wait(coll_dcp_request **request) {
    return refuse(request);
}

int coll_dcp_test(coll_dcp_request **request, int *flag) {
    *flag = 1;
    return refuse(request);
}
