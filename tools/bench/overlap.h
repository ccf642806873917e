/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The microbenchmarks of Sancho, Kerbyson and Barker (figure 5): the cost of an allreduce for the
 * calling ranks, depending on how much they compute between its beginning and its end.
 */
#ifndef COLL_TOOLS_BENCH_OVERLAP_H
#define COLL_TOOLS_BENCH_OVERLAP_H

#include <mpi.h>

typedef enum overlap_scheme {
    OVERLAP_BLOCKING, /* MPI_Allreduce, then the computation */
    OVERLAP_NBC,      /* MPI_Iallreduce, the computation, MPI_Wait */
    OVERLAP_POLLED,   /* like OVERLAP_NBC, with MPI_Test after every piece of the computation */
    OVERLAP_DCP,      /* DCP_IAllreduce, the computation, DCP_Wait */
    OVERLAP_SCHEMES
} overlap_scheme;

/* Returns "blocking", "nbc", "nbc-polled" or "dcp". */
const char *overlap_name(overlap_scheme scheme);

/* This rank's computing speed, and the cost of reading the clock. */
typedef struct overlap_machine {
    double steps_per_second, clock_seconds;
} overlap_machine;

overlap_machine overlap_calibrate(void);

/*
 * Computes for STEPS steps; compilers can't remove this work, and it neither reads the clock nor
 * uses more memory than one variable.
 */
void overlap_compute(double steps);

typedef struct overlap_call {
    overlap_scheme scheme;
    MPI_Comm comm;
    int doubles;    /* to be summed */
    double compute; /* s of computation in every repetition */
    int warmups, repetitions;
} overlap_call;

/*
 * Runs CALL; collective over its communicator. SAMPLES, one for each repetition, are complete on
 * rank 0: the seconds spent in calls, averaged over the ranks, less the cost of reading the
 * clock. Without computation a sample is the latency, else the overhead. Returns MPI's error codes.
 */
int overlap_run(const overlap_call *call, const overlap_machine *machine, double samples[]);

/*
 * The function that every application rank runs on the communicator of these ranks, whose error
 * handler is MPI_ERRORS_RETURN. Returns MPI's error codes.
 */
typedef int dcp_job_work(MPI_Comm app, void *context);

/*
 * Starts DCPs according to SPEC (COLL_DCP's syntax) and runs WORK on the other ranks. If SPEC is
 * NULL, runs WORK on all ranks, without DCPs. If WORK is NULL, only starts and stops the DCPs,
 * which checks SPEC. Collective over MPI_COMM_WORLD. Ends PROGRAM with one line if SPEC is refused,
 * or on any other error, since other ranks would wait for the failed rank.
 */
void dcp_job_run(const char *program, const char *spec, dcp_job_work *work, void *context);

#endif
