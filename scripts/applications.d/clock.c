/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is preloaded into an MPI program in C or Fortran. Rank 0 prints on stderr the seconds from
 * the end of MPI_Init to MPI_Finalize, and those in MPI_Init. Other preloaded libraries come after
 * this one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double before, start; /* s: when MPI_Init began and when it ended */

/* Returns the time in seconds, also before MPI_Init. */
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void finish(void) {
    int rank;
    if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0)
        fprintf(stderr, "clock: %.6f %.6f\n", now() - start, start - before);
}

/* Returns the function NAME of the next library that has it. */
#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

int MPI_Init(int *argc, char ***argv) {
    before = now();
    int code = NEXT("MPI_Init", int (*)(int *, char ***))(argc, argv);
    start = now();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    before = now();
    int code = NEXT("MPI_Init_thread", int (*)(int *, char ***, int, int *))(argc, argv, required,
                                                                             provided);
    start = now();
    return code;
}

int MPI_Finalize(void) {
    finish();
    return NEXT("MPI_Finalize", int (*)(void))();
}

void mpi_init_(MPI_Fint *code);
void mpi_init_(MPI_Fint *code) {
    before = now();
    NEXT("mpi_init_", void (*)(MPI_Fint *))(code);
    start = now();
}

void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *code);
void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *code) {
    before = now();
    NEXT("mpi_init_thread_", void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))
    (required, provided, code);
    start = now();
}

void mpi_finalize_(MPI_Fint *code);
void mpi_finalize_(MPI_Fint *code) {
    finish();
    NEXT("mpi_finalize_", void (*)(MPI_Fint *))(code);
}
