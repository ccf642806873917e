/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests programs that handle faults (ULFM) and programs without MPI_COMM_WORLD, with Open MPI 5.0.
 *
 *   fault rank      rank 1 kills itself; the others get an error from MPI_Allreduce, and go on with
 *                   the communicator of MPIX_Comm_shrink
 *   fault session   a program that begins with MPI_Session_init
 *
 * Exits with 77 if the MPI library has neither.
 */
#include <mpi.h>
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>
#endif

#include <signal.h>
#include <stdio.h>
#include <string.h>

#ifdef OMPI_HAVE_MPI_EXT_FTMPI
enum { COUNT = 50000 };

static int from[COUNT], to[COUNT];

/* Sums up a 1 of each rank of COMM, COUNT times. */
static int add_up(MPI_Comm comm) {
    for (int i = 0; i < COUNT; i++)
        from[i] = 1;
    return MPI_Allreduce(from, to, COUNT, MPI_INT, MPI_SUM, comm);
}

static void print_sums(MPI_Comm comm, int code) {
    int ranks, wrong = 0;
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < COUNT; i++)
        wrong += to[i] != ranks;
    printf("%d ranks: code %d, %d wrong\n", ranks, code, wrong);
    fflush(stdout);
}

static void lose_rank(int argc, char **argv) {
    MPI_Comm comm, rest;
    int rank, flag = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    print_sums(comm, add_up(comm));
    if (rank == 1)
        raise(SIGKILL);
    const int code = add_up(comm);
    printf("the error is %s\n",
           code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_REVOKED ? "of a fault" : "another");
    MPIX_Comm_revoke(comm);
    MPIX_Comm_agree(comm, &flag);
    if (MPIX_Comm_shrink(comm, &rest) == MPI_SUCCESS)
        print_sums(rest, add_up(rest));
    MPI_Finalize();
}

static void use_session(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "fault", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    print_sums(comm, add_up(comm));
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "rank") == 0)
        lose_rank(argc, argv);
    else if (argc > 1)
        use_session();
    return 0;
}
#else
int main(void) {
    return 77;
}
#endif
