/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the component's counters with MPI_T after a few calls, and prints those that are not 0. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Prints the counter INDEX. A session sees how much it has grown since the session began. */
static void read_counter(MPI_T_pvar_session session, int index, MPI_T_pvar_handle handle) {
    char name[128];
    int length = sizeof name, verbosity, class, binding, readonly, continuous, atomic, none = 0;
    unsigned long value = 0;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    if (MPI_T_pvar_get_info(index, name, &length, &verbosity, &class, &type, &enumeration, NULL,
                            &none, &binding, &readonly, &continuous, &atomic) == MPI_SUCCESS &&
        MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS && value > 0)
        printf("%s %lu\n", name, value);
}

enum { MOST = 64 };

int main(int argc, char **argv) {
    int rank, provided, count, value = 1, sum, found = 0, indices[MOST];
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handles[MOST];
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&count);
    for (int i = 0; i < count && found < MOST; i++) {
        char name[128];
        int length = sizeof name, verbosity, class, binding, readonly, continuous, atomic, none = 0;
        MPI_Datatype type;
        MPI_T_enum enumeration;
        int elements;
        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &enumeration, NULL,
                                &none, &binding, &readonly, &continuous, &atomic) == MPI_SUCCESS &&
            strncmp(name, "coll_libcoll_", 13) == 0 &&
            MPI_T_pvar_handle_alloc(session, i, NULL, &handles[found], &elements) == MPI_SUCCESS)
            indices[found++] = i;
    }
    for (int i = 0; i < 5; i++)
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < found && rank == 0; i++)
        read_counter(session, indices[i], handles[i]);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
