/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes communicators and uses them at once, in ways in which setting them up could fail. MODE is
 *
 *   dup COUNT USED   COUNT duplicates, of which the first USED are used
 *   groups           four threads each make communicators of a group, use and free them
 *   idup             duplicates are made while the first collective of their parent runs
 *   names            one rank gives its communicator the name "libcoll"
 *   types            the ranks of a nonblocking call describe the same bytes differently
 *   op               an operation is freed before the persistent request that uses it is started
 *   type             a datatype is freed before the persistent request that uses it is started
 *   any              collectives run while a receive with any tag from any rank is active
 */
#include "tests/component/persistent.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Returns whether COMM, which has all ranks, sums their numbers correctly. */
static bool adds_up(MPI_Comm comm) {
    double sum = -1, mine = rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    return sum == ranks * (ranks - 1) / 2.0;
}

static bool dup(int count, int used) {
    bool good = true;
    for (int i = 0; i < count; i++) {
        MPI_Comm made;
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        good = (i >= used || adds_up(made)) && good;
        MPI_Comm_free(&made);
    }
    return good;
}

enum { THREADS = 4, ROUNDS = 5 };

static void *make_groups(void *tag) {
    bool good = true;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm made;
        MPI_Comm_create_group(MPI_COMM_WORLD, all, *(int *)tag, &made);
        MPI_Barrier(made);
        good = adds_up(made) && good;
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&all);
    return good ? tag : NULL;
}

static bool groups(void) {
    pthread_t threads[THREADS];
    int tags[THREADS];
    bool good = true;
    for (int i = 0; i < THREADS; i++) {
        tags[i] = i;
        pthread_create(&threads[i], NULL, make_groups, &tags[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        good = good && result;
    }
    return good;
}

static bool idup(void) {
    enum { COUNT = 5 };
    MPI_Comm made[COUNT];
    MPI_Request requests[COUNT];
    for (int i = 0; i < COUNT; i++)
        MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[i]);
    bool good = adds_up(MPI_COMM_WORLD);
    MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COUNT; i++) {
        good = adds_up(made[i]) && good;
        MPI_Comm_free(&made[i]);
    }
    return good;
}

static bool names(void) {
    bool good = true;
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    if (rank == ranks - 1)
        MPI_Comm_set_name(made, "libcoll");
    for (int i = 0; i < ROUNDS; i++)
        good = adds_up(made) && good;
    MPI_Comm_free(&made);
    return good;
}

/* Broadcasts COUNT numbers, as COUNT elements on rank 0 and as one element on the others. */
static bool types(int count) {
    int numbers[8];
    MPI_Datatype all;
    MPI_Request request;
    MPI_Type_contiguous(count, MPI_INT, &all);
    MPI_Type_commit(&all);
    for (int i = 0; i < count; i++)
        numbers[i] = rank == 0 ? i : -1;
    if (rank == 0)
        MPI_Ibcast(numbers, count, MPI_INT, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Ibcast(numbers, 1, all, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&all);
    int i = 0;
    while (i < count && numbers[i] == i)
        i++;
    return i == count;
}

static void add(void *from, void *into, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)into)[i] += ((int *)from)[i];
}

static bool op(void) {
    enum { COUNT = 3000, OTHERS = 20 };
    static int mine[COUNT], sums[COUNT];
    MPI_Request request;
    MPI_Op own, other;
    for (int i = 0; i < COUNT; i++)
        mine[i] = 1;
    MPI_Op_create(add, 1, &own);
    INIT(Allreduce)(mine, sums, COUNT, MPI_INT, own, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Op_free(&own);
    for (int i = 0; i < OTHERS; i++) {
        MPI_Op_create(add, 0, &other);
        MPI_Op_free(&other);
    }
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return sums[0] == ranks && sums[COUNT - 1] == ranks;
}

/* Replaces TYPE by other types, which may take its memory. */
static void free_type(MPI_Datatype *type) {
    enum { OTHERS = 20 };
    MPI_Datatype others[OTHERS];
    MPI_Type_free(type);
    for (int i = 0; i < OTHERS; i++)
        MPI_Type_contiguous(i + 3, MPI_DOUBLE, &others[i]);
    for (int i = 0; i < OTHERS; i++)
        MPI_Type_free(&others[i]);
}

/* Adds pairs of numbers, if TYPE is still that of a pair. */
static void add_pairs(void *from, void *into, int *count, MPI_Datatype *type) {
    int size, both;
    MPI_Type_size(*type, &size);
    both = *count * size / (int)sizeof(int);
    add(from, into, &both, type);
}

static MPI_Datatype pair_type(void) {
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    return pair;
}

static bool type(void) {
    enum { COUNT = 1500 };
    static int mine[2 * COUNT], sums[2 * COUNT];
    MPI_Request request;
    MPI_Op own;
    MPI_Datatype pair = pair_type();
    for (int i = 0; i < 2 * COUNT; i++)
        mine[i] = 1;
    MPI_Op_create(add_pairs, 1, &own);
    INIT(Allreduce)(mine, sums, COUNT, pair, own, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    free_type(&pair);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Op_free(&own);
    return sums[0] == ranks && sums[2 * COUNT - 1] == ranks;
}

static bool any(void) {
    int got = -1;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    bool good = types(1) && types(8) && adds_up(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, ROUNDS, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    return good && got == (rank + ranks - 1) % ranks && status.MPI_TAG == ROUNDS;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    int provided, good = false, all;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(mode, "dup") == 0 && argc == 4)
        good = dup(atoi(argv[2]), atoi(argv[3]));
    if (strcmp(mode, "groups") == 0)
        good = groups();
    if (strcmp(mode, "idup") == 0)
        good = idup();
    if (strcmp(mode, "names") == 0)
        good = names();
    if (strcmp(mode, "types") == 0)
        good = types(1) && types(2) && types(3) && types(8);
    if (strcmp(mode, "op") == 0)
        good = op();
    if (strcmp(mode, "type") == 0)
        good = type();
    if (strcmp(mode, "any") == 0)
        good = any();
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %s\n", mode, all ? "right" : "WRONG");
    MPI_Finalize();
    return !all;
}
