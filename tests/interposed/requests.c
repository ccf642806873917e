/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests requests of allreduces together with those of messages, in every call that completes
 * requests, and persistent ones. Every rank prints what it saw, which is the same with and without
 * dedicated processors.
 */
#include "tests/interposed/persistent.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 80 }; /* the length of the longest array of requests */

static int rank, ranks;

/* The data of one round: an integer sum, a real maximum, a message from the left. */
typedef struct round_of {
    int mine, sum, from;
    double real, most;
} round_of;

static void start(int number, round_of *round, MPI_Request requests[4]) {
    *round = (round_of){.mine = rank + number, .sum = -1, .from = -1, .real = rank * 0.5};
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Irecv(&round->from, 1, MPI_INT, left, number, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&round->mine, &round->sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&round->mine, 1, MPI_INT, right, number, MPI_COMM_WORLD, &requests[2]);
    MPI_Iallreduce(&round->real, &round->most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD,
                   &requests[3]);
}

static void finish(const char *how, const round_of *round, const MPI_Request requests[4]) {
    int left = 0;
    for (int i = 0; i < 4; i++)
        left += requests[i] != MPI_REQUEST_NULL;
    printf("%d: %s: sum %d, max %g, from the left %d, %d requests left\n", rank, how, round->sum,
           round->most, round->from, left);
}

static void one_by_one(void) {
    round_of round;
    MPI_Request requests[4];
    MPI_Status status;
    int flag = 0, count;
    start(1, &round, requests);
    for (int i = 3; i >= 0; i--)
        MPI_Wait(&requests[i], &status);
    MPI_Get_count(&status, MPI_INT, &count);
    printf("%d: received %d from %d\n", rank, count, status.MPI_SOURCE);
    finish("wait", &round, requests);

    start(2, &round, requests);
    for (int i = 0; i < 4; i++) {
        for (flag = 0; !flag;)
            MPI_Request_get_status(requests[i], &flag, &status);
        for (flag = 0; !flag;)
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    }
    finish("test", &round, requests);
}

static void all(void) {
    round_of round;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    start(3, &round, requests);
    MPI_Waitall(4, requests, statuses);
    printf("%d: from %d\n", rank, statuses[0].MPI_SOURCE);
    finish("waitall", &round, requests);
    start(4, &round, requests);
    for (int flag = 0; !flag;)
        MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
    finish("testall", &round, requests);
}

static void any(void) {
    round_of round;
    MPI_Request requests[4];
    int index, seen = 0, flag;
    start(5, &round, requests);
    for (int i = 0; i < 4; i++) {
        MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
        seen += 1 << index;
    }
    MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
    printf("%d: all seen once %d, then none %d\n", rank, seen == 15, index == MPI_UNDEFINED);
    finish("waitany", &round, requests);
    start(6, &round, requests);
    for (index = 0; index != MPI_UNDEFINED;)
        do
            MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE);
        while (!flag);
    finish("testany", &round, requests);
}

static void some(void) {
    round_of round;
    MPI_Request requests[4];
    int indices[4], count, seen = 0;
    start(7, &round, requests);
    for (;;) {
        MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
        if (count == MPI_UNDEFINED)
            break;
        for (int i = 0; i < count; i++)
            seen += 1 << indices[i];
    }
    printf("%d: all seen once %d\n", rank, seen == 15);
    finish("waitsome", &round, requests);
    start(8, &round, requests);
    do
        MPI_Testsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
    while (count != MPI_UNDEFINED);
    finish("testsome", &round, requests);
}

static void many(void) {
    MPI_Request requests[MANY];
    int sums[MANY];
    long total = 0;
    for (int i = 0; i < MANY; i++)
        MPI_Iallreduce(&rank, &sums[i], 1, MPI_INT, i % 2 ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD,
                       &requests[i]);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        total += sums[i];
    printf("%d: many %ld\n", rank, total);
}

static void persistent(void) {
    int mine = 0, sum = 0, real_sum = 0, from = -1, flag;
    MPI_Request requests[3];
    MPI_Status status;
    ALLREDUCE_INIT(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Recv_init(&from, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &requests[1]);
    ALLREDUCE_INIT(MPI_IN_PLACE, &real_sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[2]);
    for (int turn = 1; turn <= 3; turn++) {
        mine = rank * turn;
        real_sum = 1;
        MPI_Startall(3, requests);
        MPI_Send(&turn, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);
        if (turn == 2)
            MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 3; i++)
            MPI_Wait(&requests[i], &status); /* inactive after turn 2, so this returns at once */
        MPI_Test(&requests[0], &flag, &status);
        printf("%d: persistent: sum %d, ranks %d, from myself %d, inactive %d\n", rank, sum,
               real_sum, from, flag);
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&requests[i]);
    printf("%d: freed %d\n", rank, requests[0] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    one_by_one();
    all();
    any();
    some();
    many();
    persistent();
    MPI_Finalize();
    return 0;
}
