/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective OPERATION SPEC BYTES [REPEATS]: makes REPEATS calls (default 1) of OPERATION
 * ("allgather") in a row, with libcoll's algorithm SPEC ("ring"), or with the MPI library if SPEC
 * is "mpi". The root is rank 0. Prints the simulated seconds from the common start until the
 * last rank has finished all calls, divided by REPEATS, and libcoll's choice if SPEC is "auto"
 * (except for alltoallvs). With VERIFY in the environment it first compares the results with the
 * MPI library's, which only works if ranks don't share buffers.
 *
 * BYTES is the total size. Operations with blocks divide BYTES into a block for each rank, of at
 * least one byte. In an alltoallv a rank sends at most such a block to each other rank; in a
 * sparse_alltoallv it sends a whole block to at most six other ranks, and nothing to the others.
 */
#include "simulate/clock.h"

#include <coll.h>
#include <coll_tools.h>

#include <string.h>

#define COMM MPI_COMM_WORLD
enum { ROOT = 0 };

typedef struct call {
    int ours;         /* libcoll's call, not the MPI library's */
    int whole, block; /* bytes */
    char *mine, *all; /* input and output of a rank, of size WHOLE or BLOCK */
} call;

/* Reductions compute the exclusive or of bytes. */
static int allreduce(const call *c) {
    return c->ours ? COLL_Allreduce(c->mine, c->all, c->whole, MPI_BYTE, MPI_BXOR, COMM)
                   : MPI_Allreduce(c->mine, c->all, c->whole, MPI_BYTE, MPI_BXOR, COMM);
}

static int reduce(const call *c) {
    return c->ours ? COLL_Reduce(c->mine, c->all, c->whole, MPI_BYTE, MPI_BXOR, ROOT, COMM)
                   : MPI_Reduce(c->mine, c->all, c->whole, MPI_BYTE, MPI_BXOR, ROOT, COMM);
}

static int reduce_scatter(const call *c) {
    return c->ours ? COLL_Reduce_scatter_block(c->mine, c->all, c->block, MPI_BYTE, MPI_BXOR, COMM)
                   : MPI_Reduce_scatter_block(c->mine, c->all, c->block, MPI_BYTE, MPI_BXOR, COMM);
}

static int allgather(const call *c) {
    int n = c->block;
    return c->ours ? COLL_Allgather(c->mine, n, MPI_BYTE, c->all, n, MPI_BYTE, COMM)
                   : MPI_Allgather(c->mine, n, MPI_BYTE, c->all, n, MPI_BYTE, COMM);
}

static int alltoall(const call *c) {
    int n = c->block;
    return c->ours ? COLL_Alltoall(c->mine, n, MPI_BYTE, c->all, n, MPI_BYTE, COMM)
                   : MPI_Alltoall(c->mine, n, MPI_BYTE, c->all, n, MPI_BYTE, COMM);
}

/* Runs an alltoallv in which FROM sends BYTES(c, FROM, TO) bytes to TO, at most a block. */
static int run_alltoallv(const call *c, size_t (*bytes)(const call *, int from, int to)) {
    int rank, ranks;
    MPI_Comm_rank(COMM, &rank);
    MPI_Comm_size(COMM, &ranks);
    int out[ranks], in[ranks], places[ranks];
    MPI_Count long_out[ranks], long_in[ranks];
    MPI_Aint long_places[ranks];
    for (int i = 0; i < ranks; i++) {
        long_out[i] = out[i] = (int)bytes(c, rank, i);
        long_in[i] = in[i] = (int)bytes(c, i, rank);
        long_places[i] = places[i] = i * c->block;
    }
    return c->ours
               ? COLL_Alltoallv(c->mine, long_out, long_places, MPI_BYTE, c->all, long_in,
                                long_places, MPI_BYTE, COMM)
               : MPI_Alltoallv(c->mine, out, places, MPI_BYTE, c->all, in, places, MPI_BYTE, COMM);
}

/* Returns a number of bytes from 0 to a whole block, which depends on the two ranks. */
static size_t unequal_bytes(const call *c, int from, int to) {
    return ((unsigned)from * 7919 + (unsigned)to * 104729) % 97 * ((unsigned)c->block + 1) / 97;
}

static int alltoallv(const call *c) {
    return run_alltoallv(c, unequal_bytes);
}

/*
 * Returns the size of a block in bytes if the ranks are 1, 8 or 32 apart, counted around the end,
 * else 0.
 */
static size_t sparse_bytes(const call *c, int from, int to) {
    int ranks, distance = abs(from - to);
    MPI_Comm_size(COMM, &ranks);
    distance = distance > ranks / 2 ? ranks - distance : distance;
    return distance == 1 || distance == 8 || distance == 32 ? (size_t)c->block : 0;
}

static int sparse_alltoallv(const call *c) {
    return run_alltoallv(c, sparse_bytes);
}

static int gather(const call *c) {
    int n = c->block;
    return c->ours ? COLL_Gather(c->mine, n, MPI_BYTE, c->all, n, MPI_BYTE, ROOT, COMM)
                   : MPI_Gather(c->mine, n, MPI_BYTE, c->all, n, MPI_BYTE, ROOT, COMM);
}

static int scatter(const call *c) {
    int n = c->block;
    return c->ours ? COLL_Scatter(c->mine, n, MPI_BYTE, c->all, n, MPI_BYTE, ROOT, COMM)
                   : MPI_Scatter(c->mine, n, MPI_BYTE, c->all, n, MPI_BYTE, ROOT, COMM);
}

static int bcast(const call *c) {
    return c->ours ? COLL_Bcast(c->all, c->whole, MPI_BYTE, ROOT, COMM)
                   : MPI_Bcast(c->all, c->whole, MPI_BYTE, ROOT, COMM);
}

static int barrier(const call *c) {
    return c->ours ? COLL_Barrier(COMM) : MPI_Barrier(COMM);
}

typedef enum side { NOTHING, WHOLE, BLOCK, WHOLE_AT_ROOT } side;

static const struct operation {
    const char *name;
    int (*run)(const call *c);
    side mine, all;
    int blocks;
    const char *setting; /* libcoll's name for the operation if sizes differ by rank; else NULL */
} operations[] = {
    {"allreduce", allreduce, WHOLE, WHOLE, 0},
    {"reduce", reduce, WHOLE, WHOLE_AT_ROOT, 0},
    {"reduce_scatter", reduce_scatter, WHOLE, BLOCK, 1},
    {"allgather", allgather, BLOCK, WHOLE, 1},
    {"alltoall", alltoall, WHOLE, WHOLE, 1},
    {"alltoallv", alltoallv, WHOLE, WHOLE, 1, "alltoall"},
    {"sparse_alltoallv", sparse_alltoallv, WHOLE, WHOLE, 1, "alltoall"},
    {"gather", gather, BLOCK, WHOLE_AT_ROOT, 1},
    {"scatter", scatter, WHOLE_AT_ROOT, BLOCK, 1},
    {"bcast", bcast, NOTHING, WHOLE, 0},
    {"barrier", barrier, NOTHING, NOTHING, 0},
};

static const struct operation *find_operation(const char *name) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    clock_fail("collective: no such OPERATION");
    return NULL;
}

static size_t bytes_of(side which, const call *c, int rank) {
    return which == WHOLE || (which == WHOLE_AT_ROOT && rank == ROOT) ? (size_t)c->whole
           : which == BLOCK                                           ? (size_t)c->block
                                                                      : 0;
}

static call call_of(const struct operation *operation, double bytes, int ours) {
    call c = {.ours = ours, .whole = (int)bytes, .block = (int)bytes};
    int rank, ranks;
    MPI_Comm_rank(COMM, &rank);
    MPI_Comm_size(COMM, &ranks);
    if (operation->blocks) {
        c.block = c.whole < ranks ? 1 : c.whole / ranks;
        c.whole = c.block * ranks;
    }
    c.mine = malloc(bytes_of(operation->mine, &c, rank) + 1);
    c.all = malloc(bytes_of(operation->all, &c, rank) + 1);
    return c;
}

/*
 * Runs OPERATION on data that depend on the rank and the place. Returns a copy of the result, to be
 * freed.
 */
static char *result_of(const struct operation *operation, call c, int ours) {
    int rank;
    MPI_Comm_rank(COMM, &rank);
    size_t mine = bytes_of(operation->mine, &c, rank), all = bytes_of(operation->all, &c, rank);
    c.ours = ours;
    for (size_t i = 0; i < mine; i++)
        c.mine[i] = (char)((size_t)rank * 37 + i * 131 + i / 251 + 7);
    for (size_t i = 0; i < all; i++)
        c.all[i] = (char)(rank == ROOT ? i * 131 + i / 251 + 7 : 0);
    if (operation->run(&c) != MPI_SUCCESS)
        clock_fail("collective: the operation failed");
    return memcpy(malloc(all + 1), c.all, all);
}

static void verify(const struct operation *operation, const call *c) {
    int rank;
    MPI_Comm_rank(COMM, &rank);
    char *expected = result_of(operation, *c, 0), *found = result_of(operation, *c, 1);
    if (memcmp(expected, found, bytes_of(operation->all, c, rank)) != 0)
        clock_fail("collective: wrong results");
    free(expected);
    free(found);
}

/*
 * SMPI's copy of Open MPI's decision function divides by a reduction's number of elements, but
 * libcoll makes an empty reduction to find out whether MPI accepts the operation. So empty
 * reductions return at once here.
 */
int __real_PMPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);
int __wrap_PMPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);
int __wrap_PMPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
    return count ? __real_PMPI_Allreduce(mine, all, count, type, op, comm) : MPI_SUCCESS;
}

/*
 * SMPI's MPI_Iallreduce sends from every rank to every other one, which takes minutes with 512
 * ranks. libcoll calls it once when it sets a communicator up, before anything is timed.
 */
int __wrap_PMPI_Iallreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, MPI_Request *request);
int __wrap_PMPI_Iallreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    return PMPI_Allreduce(mine, all, count, type, op, comm);
}

/*
 * Returns the name of libcoll's choice for C; every rank frees its copy. The choice is the same on
 * all ranks, so only one rank computes it.
 */
static char *choice_for(const struct operation *operation, const call *c) {
    enum { MOST = 32, NAME_MAX = 64 };
    COLL_Candidate candidates[MOST];
    char *name = calloc(1, NAME_MAX);
    int rank, count;
    MPI_Comm_rank(COMM, &rank);
    if (COLL_Explain(operation->name, 0, ROOT, COMM, candidates, 0, &count) != MPI_SUCCESS)
        clock_fail("collective: no first use");
    if (rank == ROOT)
        COLL_Explain(operation->name, c->block, ROOT, COMM, candidates, MOST, &count);
    for (int i = 0; rank == ROOT && i < count; i++)
        if (candidates[i].chosen)
            strcpy(name, candidates[i].name);
    MPI_Bcast(name, NAME_MAX, MPI_BYTE, ROOT, COMM);
    return name;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc < 4 || argc > 5)
        clock_fail("usage: collective OPERATION SPEC BYTES [REPEATS]");
    const struct operation *operation = find_operation(argv[1]);
    int rank, ours = strcmp(argv[2], "mpi") != 0, repeats = argc > 4 ? atoi(argv[4]) : 1;
    call c = call_of(operation, atof(argv[3]), ours);
    const char *setting = operation->setting ? operation->setting : operation->name;
    char *choice =
        strcmp(argv[2], "auto") == 0 && !operation->setting ? choice_for(operation, &c) : NULL;
    if (ours && COLL_Set(COMM, setting, choice ? choice : argv[2]) != MPI_SUCCESS)
        clock_fail("collective: bad SPEC");

    call first = {.ours = ours, .whole = 1, .block = 1, .mine = c.mine, .all = c.all};
    operation->run(&first); /* sets the communicator up */
    if (ours && getenv("VERIFY"))
        verify(operation, &c);

    double start = clock_start_together(), seconds;
    for (int i = 0; i < repeats; i++)
        if (operation->run(&c) != MPI_SUCCESS)
            clock_fail("collective: the operation failed");
    seconds = clock_longest(start) / repeats;
    MPI_Comm_rank(COMM, &rank);
    if (rank == ROOT)
        printf("seconds %.9f %s\n", seconds, choice ? choice : "");
    free(choice);
    free(c.mine);
    free(c.all);
    MPI_Finalize();
    return 0;
}
