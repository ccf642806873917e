/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the network between hosts, pair by pair. */
#ifndef COLL_TOOLS_DOCTOR_NETWORK_TEST_H
#define COLL_TOOLS_DOCTOR_NETWORK_TEST_H

#include "tools/doctor/pair_test.h"

/* Maximum number of other hosts that each host measures with, while all hosts measure. */
enum { DOCTOR_ROUNDS = 5 };

/* COMM has one rank of each host, and FACTS are this rank's. PAIRS of rank 0 have COUNT elements.
 */
typedef struct doctor_network {
    MPI_Comm comm;
    const doctor_facts *facts;
    doctor_pair *pairs; /* room for HOSTS * DOCTOR_ROUNDS / 2, or for the pairs measured alone */
    int count;
} doctor_network;

/* Measures latency and rate between each host and a few other hosts. Collective; sets PAIRS and
 * COUNT on rank 0. */
int doctor_network_test(doctor_network *network);

/*
 * Measures the pairs in WANTED again, one after the other, while nothing else is sent. Does this
 * REPEATS times: PAIRS[R * COUNT_OF_WANTED + W] of rank 0 is pair W in repeat R. Collective; all
 * ranks pass the same WANTED.
 */
int doctor_network_test_alone(doctor_network *network, const int wanted[][2], int count_of_wanted,
                              int repeats);

/* Returns the host with which HOST, one of HOSTS hosts, measures in round NTH, or HOST itself if it
 * measures with none. */
int doctor_network_partner(int host, int hosts, int nth);

#endif
