/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adapts coll-popcg to the simulation: its computing takes simulated time, and with COLL_DCP some
 * ranks become dedicated processors, which don't return from MPI_Init. MPI_COMM_WORLD then consists
 * of the other ranks.
 *
 * A pass over a block takes VALUE_NS nanoseconds for each number that it reads or writes (an
 * environment variable; default 2.5): 8 bytes at half of the 6.4 GB/s that two cores of an
 * Opteron's socket share. coll-popcg is linked with --wrap for its four kinds of passes.
 */
#include "simulate/clock.h"

#include "cdcp/dcp.h"
#include "cdcp/popcg/nine_point.h"

#include <coll_tools.h>
#include <smpi/smpi.h>

static void compute_pass(struct shape shape, int values) {
    const char *text = getenv("VALUE_NS");
    smpi_execute_benched((double)(shape.width * shape.height) * values * 1e-9 *
                         (text ? atof(text) : 2.5));
}

double __real_field_dot(struct shape shape, const double *a, const double *b);
double __wrap_field_dot(struct shape shape, const double *a, const double *b);
double __wrap_field_dot(struct shape shape, const double *a, const double *b) {
    compute_pass(shape, 2);
    return __real_field_dot(shape, a, b);
}

void __real_field_combine(struct shape shape, double *y, double alpha, const double *x,
                          double beta);
void __wrap_field_combine(struct shape shape, double *y, double alpha, const double *x,
                          double beta);
void __wrap_field_combine(struct shape shape, double *y, double alpha, const double *x,
                          double beta) {
    compute_pass(shape, 3);
    __real_field_combine(shape, y, alpha, x, beta);
}

void __real_field_multiply(struct shape shape, double *y, const double *d, const double *x);
void __wrap_field_multiply(struct shape shape, double *y, const double *d, const double *x);
void __wrap_field_multiply(struct shape shape, double *y, const double *d, const double *x) {
    compute_pass(shape, 3);
    __real_field_multiply(shape, y, d, x);
}

/* Reads four coefficients and x, writes y; the neighbours' values are in the cache. */
void __real_nine_point_apply(const struct nine_point *matrix, double *y, const double *x);
void __wrap_nine_point_apply(const struct nine_point *matrix, double *y, const double *x);
void __wrap_nine_point_apply(const struct nine_point *matrix, double *y, const double *x) {
    compute_pass(matrix->shape, 6);
    __real_nine_point_apply(matrix, y, x);
}

int MPI_Init(int *argc, char ***argv) {
    MPI_Comm app;
    const char *spec = getenv("COLL_DCP");
    int code = PMPI_Init(argc, argv);
    if (code != MPI_SUCCESS || !spec)
        return code;
    if (coll_dcp_start(spec, MPI_COMM_WORLD, &app) != MPI_SUCCESS)
        clock_fail("popcg: no dedicated processors");
    if (app != MPI_COMM_NULL)
        return MPI_SUCCESS;
    if (DCP_Serve() != MPI_SUCCESS)
        clock_fail("popcg: a dedicated processor failed");
    PMPI_Finalize();
    exit(0);
}

int MPI_Finalize(void) {
    if (getenv("COLL_DCP"))
        DCP_Stop();
    return PMPI_Finalize();
}

int MPI_Comm_rank(MPI_Comm comm, int *rank) {
    return PMPI_Comm_rank(coll_dcp_comm(comm), rank);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) {
    double mine = 0, all;
    int code = PMPI_Comm_dup(coll_dcp_comm(comm), copy);
    if (code == MPI_SUCCESS)
        code = PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, *copy);
    clock_settle();
    return code == MPI_SUCCESS && getenv("COLL_DCP") ? coll_dcp_register(*copy) : code;
}

int MPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    return PMPI_Allreduce(mine, all, count, type, op, coll_dcp_comm(comm));
}
