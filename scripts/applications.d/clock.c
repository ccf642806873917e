/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is preloaded into an MPI program in C or Fortran. Rank 0 prints on stderr the seconds from
 * MPI_Init to MPI_Finalize. Other preloaded libraries come after this one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static double start;

static void finish(void) {
    int rank;
    if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0)
        fprintf(stderr, "clock: %.6f\n", PMPI_Wtime() - start);
}

/* Returns the function NAME of the next library that has it. */
#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

int MPI_Init(int *argc, char ***argv) {
    int code = NEXT("MPI_Init", int (*)(int *, char ***))(argc, argv);
    start = PMPI_Wtime();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int code = NEXT("MPI_Init_thread", int (*)(int *, char ***, int, int *))(argc, argv, required,
                                                                             provided);
    start = PMPI_Wtime();
    return code;
}

int MPI_Finalize(void) {
    finish();
    return NEXT("MPI_Finalize", int (*)(void))();
}

void mpi_init_(MPI_Fint *code);
void mpi_init_(MPI_Fint *code) {
    NEXT("mpi_init_", void (*)(MPI_Fint *))(code);
    start = PMPI_Wtime();
}

void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *code);
void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *code) {
    NEXT("mpi_init_thread_", void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))
    (required, provided, code);
    start = PMPI_Wtime();
}

void mpi_finalize_(MPI_Fint *code);
void mpi_finalize_(MPI_Fint *code) {
    finish();
    NEXT("mpi_finalize_", void (*)(MPI_Fint *))(code);
}
