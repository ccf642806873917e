/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts two more processes of this program, and communicates with them over the intercommunicator,
 * and then by a published name. Rank 0 of the first ones prints the results.
 */
#include <mpi.h>
#include <stdio.h>

static int rank, ranks;

static void be_child(MPI_Comm parent) {
    int size, sum, ignored = 0;
    MPI_Comm merged;
    MPI_Comm_remote_size(parent, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int figures[] = {ranks, size, sum};
    MPI_Reduce(figures, &ignored, 3, MPI_INT, MPI_MAX, 0, parent);
    MPI_Intercomm_merge(parent, 1, &merged);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&parent);
}

static void be_parent(char *program) {
    MPI_Comm children, merged;
    int figures[3], size, sum;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_remote_size(children, &size);
    MPI_Reduce(NULL, figures, 3, MPI_INT, MPI_MAX, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
    MPI_Intercomm_merge(children, 0, &merged);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    if (rank == 0)
        printf("%d children: their world %d, their parents %d, sum %d; all together sum %d\n", size,
               figures[0], figures[1], figures[2], sum);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&children);
}

/* One half of the ranks accepts a connection, the other half connects. */
static void meet(void) {
    char port[MPI_MAX_PORT_NAME];
    int accepts = rank < (ranks + 1) / 2, size;
    MPI_Comm half, other;
    MPI_Comm_split(MPI_COMM_WORLD, accepts, rank, &half);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (accepts)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
    MPI_Comm_remote_size(other, &size);
    if (rank == 0) {
        printf("met %d\n", size);
        MPI_Close_port(port);
    }
    MPI_Comm_disconnect(&other);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        be_child(parent);
    else {
        be_parent(argv[0]);
        if (ranks > 1)
            meet();
    }
    MPI_Finalize();
    return 0;
}
