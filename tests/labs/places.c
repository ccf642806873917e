/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the host, rack and site of every node as libcoll finds them, and their origin. */
#include "config.h"

#include "lib/tuning/state.h"

#include <mpi.h>
#include <stdio.h>

static void print_places(const coll_topo *topo) {
    for (int rank = 0, next = 0; rank < topo->ranks; rank++) {
        const coll_place *place = &topo->places[rank];
        if (place->node == next)
            printf("%s %d %d\n", topo->hosts[next++], place->rack, place->site);
    }
    printf("# %s\n", topo->origin);
}

int main(int argc, char **argv) {
    coll_comm *state;
    char text[MPI_MAX_ERROR_STRING];
    int rank, length;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS ||
        MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS)
        return 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = coll_comm_get(MPI_COMM_WORLD, &state);
    if (code == MPI_SUCCESS && rank == 0)
        print_places(&coll_state_of(state)->topo);
    if (code != MPI_SUCCESS && rank == 0 && MPI_Error_string(code, text, &length) == MPI_SUCCESS)
        fprintf(stderr, "places: %s\n", text);
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
