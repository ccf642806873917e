/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes an error that its seed chooses: the place, the rank and the call. Everything else is
 * correct: collectives and messages on three communicators.
 *
 *   seeded CLASS SEED
 *
 * Before the error the rank that makes it prints "seeded RANK CALL" on stdout, which a report must
 * name.
 */
#include "tests/support/generator.h"

#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMS = 3, MOST = 40, BIG = 1 << 17 };

static generator shared;
static MPI_Comm comms[COMMS]; /* the last one has only some of the ranks */
static int rank, ranks, victim;
static double in[MOST * 64], out[MOST * 64];
static double big_in[BIG], big_out[BIG];

static void collective(MPI_Comm comm, int kind, int count, int root) {
    switch (kind) {
    case 0:
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
        break;
    case 1:
        MPI_Bcast(in, count, MPI_DOUBLE, root, comm);
        break;
    case 2:
        MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_MAX, root, comm);
        break;
    case 3:
        MPI_Barrier(comm);
        break;
    case 4:
        MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm);
        break;
    case 5:
        MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm);
        break;
    default:
        MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
    }
}

/* Every rank sends to the next and receives from the one before, in one of three ways. */
static void ring(int way, int tag) {
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Request requests[2];
    if (way == 0) {
        MPI_Sendrecv(in, 4, MPI_DOUBLE, next, tag, out, 4, MPI_DOUBLE, before, tag, comms[0],
                     MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(out, 4, MPI_DOUBLE, way == 1 ? before : MPI_ANY_SOURCE, tag, comms[0], &requests[0]);
    MPI_Isend(in, 4, MPI_DOUBLE, next, tag, comms[0], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void step(void) {
    int kind = below(&shared, 9), on = below(&shared, COMMS), count = 1 + below(&shared, MOST);
    int tag = below(&shared, 4);
    int root = below(&shared, 1 << 20);
    int size;
    MPI_Comm_size(comms[on], &size);
    if (kind >= 7)
        ring(below(&shared, 3), tag);
    else
        collective(comms[on], kind, count, root % size);
}

/* Tells the wrong call that the faulty rank is about to make: in the file that SEEDED names,
 * because a launcher may mix what ranks print. */
static void confess(const char *call) {
    const char *path = getenv("SEEDED");
    FILE *file = path ? fopen(path, "w") : stdout;
    if (!file)
        return;
    fprintf(file, "%d %s\n", victim, call);
    fflush(file);
    if (path)
        fclose(file);
}

/*
 * Sends a message from the faulty rank to the next one, with TAG; the next one receives with TAKEN.
 */
static void message(int tag, int taken) {
    int next = (victim + 1) % ranks;
    if (rank == victim)
        MPI_Send(in, 1, MPI_DOUBLE, next, tag, comms[1]);
    if (rank == next)
        MPI_Recv(out, 1, MPI_DOUBLE, victim, taken, comms[1], MPI_STATUS_IGNORE);
}

/*
 * Returns whether CLASS is NAME. In each class the faulty rank makes a wrong call, and the others
 * make the right one.
 */
static bool is_class(const char *class, const char *name) {
    return strcmp(class, name) == 0;
}

/* Makes errors in collectives. */
static bool wrong_collective(const char *class, MPI_Comm comm) {
    bool wrong = rank == victim;
    int other = wrong ? 1 : 0;
    if (is_class(class, "missing")) {
        if (wrong)
            confess("MPI_Barrier");
        else
            MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, comm);
        MPI_Barrier(comm);
    } else if (is_class(class, "extra")) {
        if (wrong)
            confess("MPI_Barrier");
        if (wrong)
            MPI_Barrier(comm);
        MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, comm);
    } else if (is_class(class, "root")) {
        if (wrong)
            confess("MPI_Bcast");
        MPI_Bcast(in, 4, MPI_DOUBLE, other, comm);
    } else if (is_class(class, "count")) {
        if (wrong)
            confess("MPI_Allreduce");
        MPI_Allreduce(in, out, 4 - other, MPI_DOUBLE, MPI_SUM, comm);
    } else if (is_class(class, "type")) {
        if (wrong)
            confess("MPI_Allgather");
        MPI_Allgather(in, 4, wrong ? MPI_FLOAT : MPI_INT, out, 4, wrong ? MPI_FLOAT : MPI_INT,
                      comm);
    } else if (is_class(class, "operation")) {
        if (wrong)
            confess("MPI_Reduce");
        MPI_Reduce(in, out, 4, MPI_DOUBLE, wrong ? MPI_MAX : MPI_SUM, 0, comm);
    } else if (is_class(class, "order")) {
        if (wrong)
            confess("MPI_Allreduce");
        MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, comms[other]);
        MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, comms[1 - other]);
    } else {
        return false;
    }
    return true;
}

/* Makes errors in messages. */
static bool wrong_message(const char *class) {
    int next = (victim + 1) % ranks;
    if (is_class(class, "self")) {
        if (rank == victim)
            confess("MPI_Ssend");
        if (rank == victim)
            MPI_Ssend(in, 4, MPI_DOUBLE, rank, 5, comms[0]);
    } else if (is_class(class, "tag")) {
        if (rank == victim)
            confess("MPI_Recv");
        message(6, 7);
    } else if (is_class(class, "sends")) {
        /* Two ranks send to one another before they receive. */
        if (rank == victim)
            confess("MPI_Send");
        if (rank == victim || rank == next) {
            int other = rank == victim ? next : victim;
            MPI_Send(big_in, BIG, MPI_DOUBLE, other, 8, comms[1]);
            MPI_Recv(big_out, BIG, MPI_DOUBLE, other, 8, comms[1], MPI_STATUS_IGNORE);
        }
    } else {
        return false;
    }
    return true;
}

/* Makes a rank that never calls. */
static void wrong_end(const char *class) {
    if (rank != victim)
        return;
    confess(is_class(class, "early") ? "MPI_Finalize" : "");
    if (is_class(class, "early")) {
        MPI_Finalize();
        exit(0);
    } else if (is_class(class, "exit")) {
        exit(3);
    } else if (is_class(class, "loop")) {
        for (volatile int i = 0;; i = 1 - i)
            ;
    } else if (is_class(class, "sleep") || is_class(class, "cut")) {
        sleep(3600); /* meanwhile a test may pull its cable */
    } else if (is_class(class, "stop")) {
        raise(SIGSTOP);
    } else if (is_class(class, "kill")) {
        raise(SIGKILL);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "seeded: CLASS SEED\n");
        return 2;
    }
    const char *class = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    shared.state = strtoull(argv[2], NULL, 10) * 2654435761u + 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_set_name(comms[1], "solver");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[2]);
    victim = below(&shared, ranks);
    int steps = 20 + below(&shared, 200);
    for (int i = 0; i < steps; i++)
        step();
    if (!is_class(class, "none") && !wrong_collective(class, comms[below(&shared, 2)]) &&
        !wrong_message(class))
        wrong_end(class);
    for (int i = 0; i < 20; i++)
        step();
    MPI_Barrier(comms[0]);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
