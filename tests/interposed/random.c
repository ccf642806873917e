/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs random programs: collectives of many kinds, requests and messages on communicators that come
 * and go, completed in an order that every rank chooses for itself. Prints a checksum of all
 * results of a program, which is the same whatever serves its collectives: all numbers are small
 * integers, so that sums are exact in every type and order.
 *
 *   random [PROGRAMS [SEED]]     programs of SEED, SEED + 1, ...
 */
#include "tests/interposed/counts.h"
#include "tests/interposed/persistent.h"
#include "tests/support/generator.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 80, COMMS = 5, FEW = 40, MANY = 3000, BYTES = 16 * MANY, MOST_RANKS = 64 };

/*
 * The array of requests: those of collectives and receives, a send for each, and persistent ones.
 */
enum { PENDING = 16, SENDS = PENDING, PERSISTENT = 2 * PENDING, REQUESTS = PERSISTENT + 2 };

/* The operands of a reduction, whose elements have this many numbers of a kind. */
typedef struct operand {
    MPI_Datatype type;
    MPI_Op op;
    char kind;
    int numbers;
} operand;

enum { OPERANDS = 11 };
static operand operands[OPERANDS];

/*
 * The program: random numbers that are the same on all ranks, this rank's own, and its
 * communicators.
 */
static generator shared, own;
static uint64_t seed, checksum;
static int step, rank;
static MPI_Comm comms[COMMS];

/* Its requests, and the sizes of the results for which they wait. */
static MPI_Request requests[REQUESTS], persistent[REQUESTS - PERSISTENT];
static bool is_open[REQUESTS];
static size_t bytes_of[REQUESTS];
static int step_of[REQUESTS];
static char from[REQUESTS][BYTES], to[REQUESTS][BYTES];

static void add_numbers(void *with, void *into, int *count, MPI_Datatype *type) {
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count * (bytes / (int)sizeof(int)); i++)
        ((int *)into)[i] += ((const int *)with)[i];
}

static void make_operands(void) {
    MPI_Op add;
    MPI_Datatype triple;
    MPI_Op_create(add_numbers, 1, &add);
    MPI_Type_contiguous(3, MPI_INT, &triple);
    MPI_Type_commit(&triple);
    const operand all[OPERANDS] = {
        {MPI_INT, MPI_SUM, 'i', 1},     {MPI_INT, MPI_BXOR, 'i', 1},
        {MPI_INT, MPI_LAND, 'i', 1},    {MPI_INT64_T, MPI_PROD, 'l', 1},
        {MPI_DOUBLE, MPI_SUM, 'd', 1},  {MPI_DOUBLE, MPI_MIN, 'd', 1},
        {MPI_FLOAT, MPI_MAX, 'f', 1},   {MPI_C_DOUBLE_COMPLEX, MPI_SUM, 'd', 2},
        {MPI_2INT, MPI_MINLOC, 'i', 2}, {MPI_INT, add, 'i', 1},
        {triple, add, 'i', 3},
    };
    memcpy(operands, all, sizeof all);
}

static void free_operands(void) {
    MPI_Op_free(&operands[OPERANDS - 1].op);
    MPI_Type_free(&operands[OPERANDS - 1].type);
}

static size_t size_of(const operand *what, int count) {
    size_t number = what->kind == 'l' || what->kind == 'd' ? 8 : 4;
    return (size_t)count * (size_t)what->numbers * number;
}

/* Writes this rank's input of this step. */
static void fill(char *data, const operand *what, int count) {
    generator g = {seed ^ (uint64_t)step << 40 ^ (uint64_t)rank << 20};
    for (int i = 0; i < count * what->numbers; i++) {
        int number = below(&g, 7);
        if (what->kind == 'i')
            ((int *)data)[i] = number;
        else if (what->kind == 'l')
            ((int64_t *)data)[i] = number;
        else if (what->kind == 'd')
            ((double *)data)[i] = number;
        else
            ((float *)data)[i] = (float)number;
    }
}

/* Adds a result to the checksum, which does not depend on the order of results. */
static void take(const char *data, size_t bytes, int begun) {
    generator g = {seed ^ (uint64_t)begun << 32 ^ (uint64_t)rank};
    for (size_t i = 0; i < bytes; i++)
        g.state = (g.state ^ (unsigned char)data[i]) * 0x100000001b3u;
    checksum += draw(&g);
}

static void take_request(int i) {
    if (!is_open[i])
        return;
    is_open[i] = false;
    if (i < SENDS || i >= PERSISTENT)
        take(to[i], bytes_of[i], step_of[i]);
    if (i >= PERSISTENT && !WAITED_FOR_INACTIVE)
        requests[i] = MPI_REQUEST_NULL;
}

static void take_all(void) {
    for (int i = 0; i < REQUESTS; i++)
        take_request(i);
}

static void wait_for(int i) {
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    take_request(i);
}

static void take_some(int count, const int indices[]) {
    for (int i = 0; i < count && count != MPI_UNDEFINED; i++)
        take_request(indices[i]);
}

static bool can_test_all(void) {
    for (int i = PERSISTENT; i < REQUESTS; i++)
        if (is_open[i] && !TESTED_WITH_OTHERS)
            return false;
    return true;
}

/* Completes requests in one of MPI's ways. */
static void complete(int way) {
    int index = below(&own, REQUESTS), flag = 0, some, indices[REQUESTS];
    MPI_Status statuses[REQUESTS];
    if (way == 0)
        wait_for(index);
    else if (way == 1 && MPI_Test(&requests[index], &flag, statuses) == MPI_SUCCESS && flag)
        take_request(index);
    else if (way == 2 && MPI_Waitall(REQUESTS, requests, statuses) == MPI_SUCCESS)
        take_all();
    else if (way == 3 && MPI_Waitany(REQUESTS, requests, &index, statuses) == MPI_SUCCESS)
        take_some(index != MPI_UNDEFINED, &index);
    else if (way == 4 && MPI_Waitsome(REQUESTS, requests, &some, indices, statuses) == MPI_SUCCESS)
        take_some(some, indices);
    else if (way == 5 && can_test_all() &&
             MPI_Testall(REQUESTS, requests, &flag, statuses) == MPI_SUCCESS && flag)
        take_all();
    else if (way == 6 && MPI_Testany(REQUESTS, requests, &index, &flag, statuses) == MPI_SUCCESS)
        take_some(flag && index != MPI_UNDEFINED, &index);
    else if (way == 7 && MPI_Testsome(REQUESTS, requests, &some, indices, statuses) == MPI_SUCCESS)
        take_some(some, indices);
}

/* Prepares the place of a new request, and records the size of its result. */
static void reopen(int i, size_t bytes) {
    wait_for(i);
    is_open[i] = true;
    bytes_of[i] = bytes;
    step_of[i] = step;
}

static void begin_allreduce(MPI_Comm comm, const operand *what, int count, bool in_place) {
    int i = below(&own, PENDING);
    reopen(i, size_of(what, count));
    fill(in_place ? to[i] : from[i], what, count);
    MPI_Iallreduce(in_place ? MPI_IN_PLACE : from[i], to[i], count, what->type, what->op, comm,
                   &requests[i]);
}

static void begin_persistent(int which) {
    reopen(PERSISTENT + which, size_of(&operands[which], FEW));
    fill(from[PERSISTENT + which], &operands[which], FEW);
    requests[PERSISTENT + which] =
        persistent[which]; /* some MPI libraries do not support this: see persistent.h */
    MPI_Start(&requests[PERSISTENT + which]);
}

static void begin_bcast(MPI_Comm comm, const operand *what, int count, int root) {
    int i = below(&own, PENDING);
    reopen(i, size_of(what, count));
    fill(to[i], what, count);
    MPI_Ibcast(to[i], count, what->type, root, comm, &requests[i]);
}

static void begin_alltoall(MPI_Comm comm, const operand *what, int count, int ranks) {
    int i = below(&own, PENDING);
    reopen(i, size_of(what, count * ranks));
    fill(from[i], what, count * ranks);
    MPI_Ialltoall(from[i], count, what->type, to[i], count, what->type, comm, &requests[i]);
}

/* Starts a reduce_scatter with a count for each rank, or with one count. */
static void begin_reduce_scatter(MPI_Comm comm, const operand *what, int count, bool block,
                                 int ranks) {
    int i = below(&own, PENDING);
    count_of_elements counts[MOST_RANKS];
    for (int j = 0; j < ranks; j++)
        counts[j] = count;
    reopen(i, size_of(what, count));
    fill(from[i], what, count * ranks);
    if (block)
        MPI_Ireduce_scatter_block(from[i], to[i], count, what->type, what->op, comm, &requests[i]);
    else
        MPI_Ireduce_scatter(from[i], to[i], counts, what->type, what->op, comm, &requests[i]);
}

/* Starts messages around the ring. */
static void begin_messages(MPI_Comm comm, int place, int ranks) {
    int i = below(&own, PENDING);
    reopen(i, sizeof(int));
    reopen(SENDS + i, 0);
    fill(from[SENDS + i], &operands[0], 1);
    MPI_Irecv(to[i], 1, MPI_INT, (place + ranks - 1) % ranks, step, comm, &requests[i]);
    MPI_Isend(from[SENDS + i], 1, MPI_INT, (place + 1) % ranks, step, comm, &requests[SENDS + i]);
}

/*
 * Makes a blocking collective. Only members call it, but all ranks draw before they know whether
 * they are members.
 */
static void call_collective(MPI_Comm comm, int which, const operand *what, int count, int root) {
    static char mine[BYTES], all[MOST_RANKS * 16 * FEW];
    int ranks, place;
    size_t bytes = size_of(what, count);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &place);
    fill(mine, what, count);
    memset(all, 0, sizeof all);
    if (which == 0)
        MPI_Allreduce(mine, all, count, what->type, what->op, comm);
    else if (which == 1)
        MPI_Bcast(memcpy(all, mine, bytes), count, what->type, root, comm);
    else if (which == 2)
        MPI_Reduce(mine, all, count, what->type, what->op, root, comm);
    else if (which == 3)
        MPI_Scan(mine, all, count, what->type, what->op, comm);
    else if (which == 4)
        MPI_Gather(mine, count, what->type, all, count, what->type, root, comm);
    else
        MPI_Allgather(mine, count, what->type, all, count, what->type, comm);
    bool everywhere = which != 2 && which != 4;
    if (everywhere || place == root)
        take(all, which < 4 ? bytes : bytes * (size_t)ranks, step);
}

/* Makes a communicator of every other rank of PARENT. */
static MPI_Comm make_by_group(MPI_Comm parent) {
    MPI_Group group, half;
    MPI_Comm made = MPI_COMM_NULL;
    int ranks, place;
    MPI_Comm_size(parent, &ranks);
    MPI_Comm_rank(parent, &place);
    MPI_Comm_group(parent, &group);
    MPI_Group_range_incl(group, 1, (int[1][3]){{0, ranks - 1, 2}}, &half);
    if (place % 2 == 0)
        MPI_Comm_create_group(parent, half, step, &made);
    MPI_Group_free(&half);
    MPI_Group_free(&group);
    return made;
}

static MPI_Comm make_from(MPI_Comm parent, int way, int color, int key) {
    MPI_Comm made = MPI_COMM_NULL;
    int ranks, periodic = 1;
    if (parent == MPI_COMM_NULL)
        return MPI_COMM_NULL;
    if (way == 0)
        MPI_Comm_dup(parent, &made);
    else if (way == 1) {
        MPI_Comm_size(parent, &ranks);
        MPI_Cart_create(parent, 1, &ranks, &periodic, 0, &made);
    } else if (way == 2)
        made = make_by_group(parent);
    else
        MPI_Comm_split(parent, color ? color : MPI_UNDEFINED, key, &made);
    return made;
}

/* Makes or frees a communicator. Open MPI's own collectives must be complete before it is freed. */
static void make_comm(void) {
    int parent = below(&shared, COMMS), child = 1 + below(&shared, COMMS - 1);
    int way = below(&shared, 6);
    generator salted = {draw(&shared) ^ (uint64_t)rank};
    int color = below(&salted, 3), key = below(&salted, 100);
    MPI_Comm made = make_from(comms[parent], way, color, key);
    if (comms[child] != MPI_COMM_NULL) {
        complete(2);
        MPI_Comm_free(&comms[child]);
    }
    comms[child] = made;
}

static void take_step(void) {
    int what = below(&shared, 20), which = below(&shared, 6), root = below(&shared, 1 << 20);
    const operand *reduced = &operands[below(&shared, OPERANDS)];
    int count = below(&shared, FEW + 1), many = below(&shared, MANY), place, ranks;
    bool in_place = below(&shared, 3) == 0, large = below(&shared, 8) == 0;
    MPI_Comm comm = comms[below(&shared, COMMS)];
    if (what == 0)
        make_comm();
    else if (what == 1)
        begin_persistent(which % 2);
    if (what < 2 || comm == MPI_COMM_NULL)
        return;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &place);
    if (what < 6)
        begin_allreduce(comm, reduced, large ? many : count, in_place);
    else if (what < 8)
        begin_alltoall(comm, reduced, count, ranks);
    else if (what < 9)
        begin_reduce_scatter(comm, reduced, count, in_place, ranks);
    else if (what < 11)
        begin_bcast(comm, reduced, count, root % ranks);
    else if (what < 13)
        begin_messages(comm, place, ranks);
    else
        call_collective(comm, what < 16 ? 0 : which, reduced, count, root % ranks);
}

static void begin_program(uint64_t number) {
    seed = number;
    checksum = 0;
    shared.state = number;
    own.state = number ^ (uint64_t)rank << 40;
    comms[0] = MPI_COMM_WORLD;
    for (int i = 1; i < COMMS; i++)
        comms[i] = MPI_COMM_NULL;
    for (int i = 0; i < REQUESTS; i++)
        requests[i] = MPI_REQUEST_NULL;
    for (int i = PERSISTENT; i < REQUESTS; i++) {
        MPI_Request *request = &persistent[i - PERSISTENT];
        ALLREDUCE_INIT(from[i], to[i], FEW, operands[i - PERSISTENT].type,
                       operands[i - PERSISTENT].op, MPI_COMM_WORLD, MPI_INFO_NULL, request);
        requests[i] = WAITED_FOR_INACTIVE ? *request : MPI_REQUEST_NULL;
    }
}

static void end_program(void) {
    complete(2);
    for (int i = PERSISTENT; i < REQUESTS; i++) {
        MPI_Request_free(&persistent[i - PERSISTENT]);
        requests[i] = MPI_REQUEST_NULL;
    }
    for (int i = 1; i < COMMS; i++)
        if (comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i]);
    for (int i = 0; i < REQUESTS; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            printf("%d: request %d is left\n", rank, i);
}

/*
 * Returns the handle of the next communicator. The lowest free number is assigned, so communicators
 * that are not freed make it grow.
 */
static int next_handle(void) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
#if defined MPI_ABI_VERSION && MPI_ABI_VERSION > 0 /* the MPI ABI has no Fortran */
    int handle = MPI_Comm_toint(copy);
#else
    int handle = MPI_Comm_c2f(copy);
#endif
    MPI_Comm_free(&copy);
    return handle;
}

static void run_program(uint64_t number) {
    uint64_t sum;
    begin_program(number);
    for (step = 0; step < STEPS; step++) {
        take_step();
        complete(below(&own, 40));
    }
    end_program();
    MPI_Reduce(&checksum, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("program %llu: %016llx\n", (unsigned long long)number, (unsigned long long)sum);
}

int main(int argc, char **argv) {
    int programs = argc > 1 ? atoi(argv[1]) : 20;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make_operands();
    MPI_Barrier(MPI_COMM_WORLD); /* libcoll may make a communicator of its own in this call */
    int handle = next_handle();
    for (int i = 0; i < programs; i++)
        run_program(first + (uint64_t)i);
    if (next_handle() != handle)
        printf("%d: a communicator is left\n", rank);
    free_operands();
    MPI_Finalize();
    return 0;
}
