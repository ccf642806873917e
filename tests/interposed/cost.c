/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures MPI calls: prints "NAME NANOSECONDS" for each, the least of several rounds. The calls
 * neither wait for another rank nor move data. scripts/wrapper-cost runs this program with and
 * without the wrapper.
 */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 9, CALLS = 100000 };

static MPI_Comm other;
static int sent = 1, got, flag;

static void rank_world(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &got);
}

static void rank_other(void) {
    MPI_Comm_rank(other, &got);
}

static void probe_world(void) {
    MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void probe_other(void) {
    MPI_Iprobe(0, 1, other, &flag, MPI_STATUS_IGNORE);
}

static void message(MPI_Comm comm) {
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, 0, 2, comm, &request);
    MPI_Send(&sent, 1, MPI_INT, 0, 2, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void message_world(void) {
    message(MPI_COMM_WORLD);
}

static void message_other(void) {
    message(other);
}

static void wait_null(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void allreduce_self(void) {
    MPI_Allreduce(&sent, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void bcast_self(void) {
    MPI_Bcast(&got, 1, MPI_INT, 0, MPI_COMM_SELF);
}

/* Each entry is one call; messages are MPI_Irecv, MPI_Send and MPI_Wait. */
static const struct {
    const char *name;
    void (*call)(void);
    int calls;
} measured[] = {
    {"MPI_Comm_rank(world)", rank_world, 1}, {"MPI_Comm_rank(other)", rank_other, 1},
    {"MPI_Iprobe(world)", probe_world, 1},   {"MPI_Iprobe(other)", probe_other, 1},
    {"message(world)/3", message_world, 3},  {"message(other)/3", message_other, 3},
    {"MPI_Wait(null)", wait_null, 1},        {"MPI_Allreduce(self)", allreduce_self, 1},
    {"MPI_Bcast(self)", bcast_self, 1},
};

static double seconds_of(void (*call)(void)) {
    double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        call();
    return MPI_Wtime() - start;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        double least = seconds_of(measured[i].call);
        for (int round = 1; round < ROUNDS; round++) {
            double seconds = seconds_of(measured[i].call);
            least = seconds < least ? seconds : least;
        }
        printf("%s %.2f\n", measured[i].name, least / CALLS / measured[i].calls * 1e9);
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
