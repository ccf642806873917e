/* A part of a program with dedicated processors (DCPs): some ranks work, the others serve them. */
#ifndef COLL_TOOLS_BENCH_DCP_JOB_H
#define COLL_TOOLS_BENCH_DCP_JOB_H

#include <mpi.h>

/* What the application ranks do, on their communicator, whose errors return; MPI's error codes. */
typedef int dcp_job_work(MPI_Comm app, void *context);

/*
 * Does WORK beside DCPs by SPEC (COLL_DCP's syntax), or, for NULL, on all ranks without. WORK may
 * be NULL: it is only tried whether SPEC is good. Collective over MPI_COMM_WORLD. Ends PROGRAM with
 * one line where SPEC is refused, and where an error leaves others waiting.
 */
void dcp_job_run(const char *program, const char *spec, dcp_job_work *work, void *context);

#endif
