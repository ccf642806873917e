/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that tests/labs/lab_faults.sh runs on a lab while it cuts cables: broadcasts MB
 * megabytes, TIMES times, by COLL_BCAST. Every rank appends a line to DIRECTORY/RANK: "begun" after
 * the first broadcast, a small one; and at the end "right EPOCH" with the latest epoch in which its
 * chunks were sent, or "wrong", or the error. After an error it sleeps, because MPI_Finalize would
 * wait for silent ranks.
 */
#include "config.h"

#include "coll.h"
#include "lib/bcast/reliable/chain_confirmed.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t latest;

static void look(int rank, uint32_t epoch, uint64_t index, char *bytes, size_t length) {
    (void)rank, (void)index, (void)bytes, (void)length;
    if (epoch > latest)
        latest = epoch;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    if (fflush(stdout) != 0)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void broadcast(void *bytes, size_t count) {
    int code = COLL_Bcast(bytes, (MPI_Count)count, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (code == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    say("%s\n", text);
    for (;;)
        pause();
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char path[4096];
    size_t count = argc == 4 ? strtoul(argv[1], NULL, 10) << 20 : 0;
    int times = argc == 4 ? atoi(argv[2]) : 0;
    unsigned char *bytes = malloc(count + 1);
    if (argc != 4 || !bytes || snprintf(path, sizeof path, "%s/%d", argv[3], rank) < 0 ||
        !freopen(path, "w", stdout)) {
        fprintf(stderr, "usage: fault_probe MB TIMES DIRECTORY\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }

    coll_chain_confirmed_tamper = look;
    broadcast(bytes, 1);
    say("begun\n");
    bool right = true;
    for (int i = 0; i < times; i++) {
        for (size_t k = 0; k < count; k++)
            bytes[k] = rank == 0 ? (unsigned char)(k * (k >> 8) + (size_t)i) : 0xa5;
        broadcast(bytes, count);
        for (size_t k = 0; k < count; k++)
            right = right && bytes[k] == (unsigned char)(k * (k >> 8) + (size_t)i);
    }
    if (right)
        say("right %u\n", (unsigned)latest);
    else
        say("wrong\n");
    free(bytes);
    MPI_Finalize();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
