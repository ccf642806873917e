/*
 * The paper's microbenchmarks (paper "CDCP", figure 5): what an allreduce costs the ranks that call
 * it, by how much they compute between its beginning and its end.
 */
#ifndef COLL_TOOLS_BENCH_OVERLAP_H
#define COLL_TOOLS_BENCH_OVERLAP_H

#include <mpi.h>

typedef enum overlap_scheme {
    OVERLAP_BLOCKING, /* MPI_Allreduce, then the computation */
    OVERLAP_NBC,      /* MPI_Iallreduce, the computation, MPI_Wait */
    OVERLAP_POLLED,   /* the same with MPI_Test after every piece of the computation */
    OVERLAP_DCP,      /* DCP_IAllreduce, the computation, DCP_Wait */
    OVERLAP_SCHEMES
} overlap_scheme;

/* "blocking", "nbc", "nbc-polled", "dcp" */
const char *overlap_name(overlap_scheme scheme);

/* How fast this rank computes, and what reading the clock takes. */
typedef struct overlap_machine {
    double steps_per_second, clock_seconds;
} overlap_machine;

overlap_machine overlap_calibrate(void);

/* Work that no compiler leaves out, and that neither reads the clock nor uses memory. */
void overlap_compute(double steps);

typedef struct overlap_call {
    overlap_scheme scheme;
    MPI_Comm comm;
    int doubles;    /* to be summed */
    double compute; /* s of computation in every repetition */
    int warmups, repetitions;
} overlap_call;

/*
 * Runs CALL; collective over its communicator. SAMPLES, one a repetition, are complete on rank 0:
 * the seconds spent in calls, without the clock's own, on average over the ranks. Without
 * computation that is the latency, else the overhead. Errors: MPI's.
 */
int overlap_run(const overlap_call *call, const overlap_machine *machine, double samples[]);

/* What the application ranks do, on their communicator, whose errors return; MPI's error codes. */
typedef int dcp_job_work(MPI_Comm app, void *context);

/*
 * Does WORK beside DCPs by SPEC (COLL_DCP's syntax), or, for NULL, on all ranks without. WORK may
 * be NULL: it is only tried whether SPEC is good. Collective over MPI_COMM_WORLD. Ends PROGRAM with
 * one line where SPEC is refused, and where an error leaves others waiting.
 */
void dcp_job_run(const char *program, const char *spec, dcp_job_work *work, void *context);

#endif
