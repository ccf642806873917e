/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fft MODE SIDE FIELDS PIECES ROUNDS: two-dimensional Fourier transforms of FIELDS fields of SIDE x
 * SIDE complex numbers, as in a spectral method. A round transforms all fields along the dimension
 * that is complete on a rank, and transposes them. Two rounds are a transform, and two more are its
 * inverse. The fields are divided into PIECES, each transposed with an alltoall of its own that may
 * overlap with computing on other pieces. MODE is "blocking" (MPI_Alltoall), "own" (COLL_Alltoall),
 * "nbc" (MPI_Ialltoall), or "dcp" with the number of dedicated processors in COLL_DCP, which are
 * some of the ranks. Prints the microseconds of a round.
 *
 * The simulated computation takes 5 log2(SIDE) operations for each complex number, at GFLOPS
 * billion operations a second (an environment variable; default 1, about what FFTW reached on a
 * core when Sancho, Kerbyson and Barker wrote about the cluster of infiniband.cpp). The fields'
 * numbers are made up; the transposed numbers are verified. If the number of ranks doesn't divide
 * the fields evenly, blocks are rounded up, but computing is not.
 */
#include "simulate/clock.h"

#include "cdcp/dcp.h"

#include <coll.h>
#include <coll_tools.h>

#include <math.h>
#include <smpi/smpi.h>
#include <string.h>

enum { WARM_UP = 2, MOST = 64 };

typedef enum mode { BLOCKING, OWN, NBC, DCP, MODES } mode;

static const char *const names[MODES] = {"blocking", "own", "nbc", "dcp"};

typedef struct piece {
    double *from, *to;
    bool under_way;
    MPI_Request request;
    DCP_Request pending;
} piece;

typedef struct fft {
    mode mode;
    MPI_Comm comm;
    int rank, ranks;
    int count;      /* doubles for each rank in a piece */
    double seconds; /* computing time of a piece */
    int pieces;
    piece piece[MOST];
} fft;

static void start_transpose(const fft *f, piece *p) {
    for (int to = 0; to < f->ranks; to++)
        p->from[to * f->count] = f->rank * f->ranks + to;
    if (f->mode == BLOCKING)
        MPI_Alltoall(p->from, f->count, MPI_DOUBLE, p->to, f->count, MPI_DOUBLE, f->comm);
    else if (f->mode == OWN)
        COLL_Alltoall(p->from, f->count, MPI_DOUBLE, p->to, f->count, MPI_DOUBLE, f->comm);
    else if (f->mode == NBC)
        MPI_Ialltoall(p->from, f->count, MPI_DOUBLE, p->to, f->count, MPI_DOUBLE, f->comm,
                      &p->request);
    else
        DCP_IAlltoall(p->from, f->count, MPI_DOUBLE, p->to, f->count, MPI_DOUBLE, f->comm,
                      &p->pending);
    p->under_way = true;
}

static void finish_transpose(const fft *f, piece *p) {
    if (!p->under_way)
        return;
    if (f->mode == NBC)
        MPI_Wait(&p->request, MPI_STATUS_IGNORE);
    if (f->mode == DCP)
        DCP_Wait(&p->pending);
    for (int from = 0; from < f->ranks; from++)
        if (p->to[from * f->count] != from * f->ranks + f->rank)
            clock_fail("fft: wrongly transposed");
    p->under_way = false;
}

static void run_rounds(fft *f, int rounds) {
    for (int i = 0; i < rounds * f->pieces; i++) {
        piece *p = &f->piece[i % f->pieces];
        finish_transpose(f, p);
        smpi_execute_benched(f->seconds);
        start_transpose(f, p);
    }
    for (int i = 0; i < f->pieces; i++)
        finish_transpose(f, &f->piece[i]);
}

static void prepare_fields(fft *f, double side, double fields) {
    const char *text = getenv("GFLOPS");
    const double speed = (text ? atof(text) : 1) * 1e9, numbers = fields / f->pieces * side * side;
    MPI_Comm_rank(f->comm, &f->rank);
    MPI_Comm_size(f->comm, &f->ranks);
    f->count = 2 * (int)ceil(numbers / f->ranks / f->ranks);
    f->seconds = numbers / f->ranks * 5 * log2(side) / speed;
    const size_t bytes = (size_t)f->count * (size_t)f->ranks * sizeof(double);
    for (int i = 0; i < f->pieces; i++)
        f->piece[i] = (piece){.from = malloc(bytes), .to = malloc(bytes)};
}

static void measure_rounds(fft *f, int rounds) {
    double since, mine, longest;
    run_rounds(f, WARM_UP);
    clock_settle();
    run_rounds(f, WARM_UP);
    MPI_Barrier(f->comm);
    since = MPI_Wtime();
    run_rounds(f, rounds);
    mine = (MPI_Wtime() - since) / rounds;
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, f->comm);
    if (f->rank == 0)
        printf("us %.6f\n", longest * 1e6);
}

/*
 * Replaces the call with which libcoll's ranks agree when they start. SMPI's own MPI_Iallreduce
 * sends a message between every two ranks, and its waits take time that grows with the cube of the
 * number of ranks.
 */
int __wrap_PMPI_Iallreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, MPI_Request *request);
int __wrap_PMPI_Iallreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    return MPI_Allreduce(mine, all, count, type, op, comm);
}

static mode parse_mode(const char *text) {
    mode found = BLOCKING;
    while (found < MODES && strcmp(text, names[found]) != 0)
        found++;
    return found;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 6 || parse_mode(argv[1]) == MODES)
        clock_fail("usage: fft MODE SIDE FIELDS PIECES ROUNDS");
    fft f = {.mode = parse_mode(argv[1]), .comm = MPI_COMM_WORLD, .pieces = atoi(argv[4])};
    if (f.pieces < 1 || f.pieces > MOST)
        clock_fail("fft: from 1 to 64 pieces");
    if (f.mode == DCP && coll_dcp_start(getenv("COLL_DCP"), MPI_COMM_WORLD, &f.comm) != MPI_SUCCESS)
        clock_fail("fft: no dedicated processors");
    if (f.comm == MPI_COMM_NULL) {
        if (DCP_Serve() != MPI_SUCCESS)
            clock_fail("fft: a dedicated processor failed");
    } else {
        prepare_fields(&f, atof(argv[2]), atof(argv[3]));
        measure_rounds(&f, atoi(argv[5]));
        if (f.mode == DCP)
            DCP_Stop();
    }
    MPI_Finalize();
    return 0;
}
