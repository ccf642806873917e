/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * predict OPERATION ALGORITHM BYTES: prints the seconds that libcoll's cost model predicts with the
 * parameters that Tam and Wang measured on their cluster (table 1, for more than 40 bytes). Nothing
 * is simulated.
 */
#include "simulate/clock.h"

#include <coll_tools.h>

#include <math.h>
#include <string.h>

/* The largest packet of the paper's network. */
static const double packet = 1500;

/* Returns a curve of FIXED seconds a packet and SLOPE seconds a byte. */
static COLL_Curve make_curve(double fixed, double slope) {
    COLL_Curve curve = {.knots = 3, .bytes = {40, packet, 1024 * packet}};
    for (int i = 0; i < curve.knots; i++)
        curve.seconds[i] = ceil(curve.bytes[i] / packet) * fixed + curve.bytes[i] * slope;
    return curve;
}

static COLL_Cost table_1(void) {
    COLL_Cost cost = {.latency = 54.3e-6, /* Os + L + Or + Ur of 40 bytes */
                      .overhead = 7.4e-6,
                      .per_byte = 82.6e-9,
                      .per_rank = 1.556e-6,
                      .together = 90e6,
                      .buffer = 1935 * packet};
    cost.curve[COLL_SEND_OVERHEAD] = make_curve(6.37e-6, 25.3e-9);
    cost.curve[COLL_SEND_GAP] = make_curve(3.027e-6, 79.6e-9);
    cost.curve[COLL_RECEIVE_GAP] = make_curve(4.986e-6, 78.8e-9);
    cost.curve[COLL_ARRIVAL_OVERHEAD] = make_curve(12.176e-6, 42.9e-9);
    cost.curve[COLL_RECEIVE_OVERHEAD] = (COLL_Curve){.knots = 1, .seconds = {9.93e-6}};
    cost.curve[COLL_TRANSFER] =
        (COLL_Curve){.knots = 2,
                     .bytes = {0, 1024 * packet},
                     .seconds = {19.8e-6, 19.8e-6 + 82.6e-9 * 1024 * packet}};
    return cost;
}

/* Writes the profile and makes later communicators use it. */
static void set_profile(void) {
    char path[64];
    int rank, ranks, code;
    COLL_Profile profile = {.cost = {[COLL_LEVEL_RACK] = table_1()},
                            .measured = {[COLL_LEVEL_RACK] = 1}};
    snprintf(path, sizeof path, "table-1.%ld", (long)getpid());
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* COLL_Profile_write needs a communicator that libcoll has set up. COLL_Places does that
     * without the costs, which libcoll would otherwise measure or look up now. */
    COLL_Place *places = malloc((size_t)ranks * sizeof *places);
    if (!places || COLL_Places(MPI_COMM_WORLD, places) != MPI_SUCCESS)
        clock_fail("predict: can't find the ranks' places");
    free(places);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        return; /* rank 0's profile is used on all ranks */
    code = COLL_Profile_write(path, MPI_COMM_WORLD, &profile);
    if (code != MPI_SUCCESS || setenv("COLL_PROFILE", path, 1) != 0)
        clock_fail("predict: can't write the profile");
}

int main(int argc, char **argv) {
    COLL_Candidate candidates[32];
    MPI_Comm comm;
    int rank, count = 0;
    MPI_Init(&argc, &argv);
    if (argc != 4)
        clock_fail("usage: predict OPERATION ALGORITHM BYTES");
    set_profile();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    if (COLL_Explain(argv[1], atoi(argv[3]), 0, comm, candidates, 32, &count) != MPI_SUCCESS)
        clock_fail("predict: bad OPERATION");
    for (int i = 0; rank == 0 && i < count; i++)
        if (strcmp(candidates[i].name, argv[2]) == 0)
            printf("seconds %.9f\n", candidates[i].predicted);
    if (rank == 0)
        unlink(getenv("COLL_PROFILE"));
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
