/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs threads under MPI_THREAD_MULTIPLE, each with its own communicators: collectives of all kinds
 * at the same time, requests that one thread starts and another completes, and communicators that
 * one thread frees while another frees their last requests. Prints the thread level before and
 * after, and whether all sums were right.
 *
 * At most 16 ranks.
 *
 *   threads free     also frees communicators before their requests are complete, which Open
 *                    MPI survives only if DCPs serve them
 */
#include "config.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 100, FREED = 10, PENDING = 6, RANKS = 16 };

typedef struct worker {
    pthread_t thread;
    int number, wrong;
    MPI_Comm comm, spare, freed;
    MPI_Request last; /* on FREED; the neighbour frees it */
    /* The neighbour thread completes these. */
    MPI_Request requests[PENDING];
    int from[PENDING], sums[PENDING];
} worker;

static int rank, ranks;
static bool frees_early;
static pthread_barrier_t together;
static worker workers[THREADS];

static int level(void) {
    int asked;
    MPI_Query_thread(&asked);
    return asked;
}

/* Returns the sum of all ranks' inputs, which are RANK + 1 times VALUE. */
static int expected(int value) {
    return ranks * (ranks + 1) / 2 * value;
}

static void reduce(worker *own, int value) {
    int mine[2] = {(rank + 1) * value, (rank + 1) * (value + 1)}, sums[2];
    MPI_Request requests[2];
    MPI_Allreduce(&mine[0], &sums[0], 1, MPI_INT, MPI_SUM, own->comm);
    own->wrong += sums[0] != expected(value);
    for (int i = 0; i < 2; i++)
        MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, own->comm, &requests[i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    own->wrong += sums[0] != expected(value) || sums[1] != expected(value + 1);
}

/* Runs the other collectives of libcoll: ROOT sends VALUE and receives every rank's number. */
static void move(worker *own, int root, int value) {
    int moved = rank == root ? value : 0, all[RANKS];
    MPI_Bcast(&moved, 1, MPI_INT, root, own->comm);
    own->wrong += moved != value;
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, root, own->comm);
    for (int i = 0; rank == root && i < ranks; i++)
        own->wrong += all[i] != i;
}

static void *work(void *given) {
    worker *own = given;
    for (int round = 0; round < ROUNDS; round++) {
        reduce(own, own->number * ROUNDS + round);
        move(own, round % ranks, round);
    }
    for (int i = 0; i < PENDING; i++) {
        own->from[i] = (rank + 1) * (own->number + i);
        MPI_Iallreduce(&own->from[i], &own->sums[i], 1, MPI_INT, MPI_SUM, own->spare,
                       &own->requests[i]);
    }
    return NULL;
}

/*
 * Completes the neighbour's requests. This thread's own requests may be active when it frees their
 * communicator.
 */
static void *complete(void *given) {
    worker *own = given, *other = &workers[(own->number + 1) % THREADS];
    if (frees_early)
        MPI_Comm_free(&own->spare);
    for (int i = 0; i < PENDING; i++) {
        MPI_Wait(&other->requests[i], MPI_STATUS_IGNORE);
        own->wrong += other->sums[i] != expected(other->number + i);
    }
    return NULL;
}

/*
 * Frees communicators while the neighbour frees requests on them. MPICH deletes the communicator in
 * the later one of the two calls.
 */
static void *free_comms(void *given) {
    worker *own = given, *other = &workers[(own->number + 1) % THREADS];
    int received;
    for (int i = 0; i < FREED; i++) {
        MPI_Comm_dup(own->comm, &own->freed);
        MPI_Recv_init(&received, 1, MPI_INT, 0, 0, own->freed, &own->last);
        pthread_barrier_wait(&together);
        if (own->number % 2 == 0)
            MPI_Comm_free(&own->freed);
        MPI_Request_free(&other->last);
        if (own->number % 2 == 1)
            MPI_Comm_free(&own->freed);
        pthread_barrier_wait(&together);
    }
    return NULL;
}

static void run(void *(*what)(void *)) {
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i].thread, NULL, what, &workers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
}

int main(int argc, char **argv) {
    int provided, before, value = 0, wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    before = level();
    frees_early = argc > 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].spare);
    }
    pthread_barrier_init(&together, NULL, THREADS);
    run(work);
    run(complete);
    run(free_comms);
    for (int i = 0; i < THREADS; i++) {
        wrong += workers[i].wrong;
        MPI_Comm_free(&workers[i].comm);
        if (!frees_early)
            MPI_Comm_free(&workers[i].spare);
    }
    printf("rank %d: level %s, %s; %d wrong\n", rank,
           before == provided ? "as provided" : "not as provided",
           level() == before ? "kept" : "changed", wrong);
    MPI_Finalize();
    return wrong != 0;
}
