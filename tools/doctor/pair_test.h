/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the network between two hosts, from one rank of each. */
#ifndef COLL_TOOLS_DOCTOR_PAIR_TEST_H
#define COLL_TOOLS_DOCTOR_PAIR_TEST_H

#include "tools/doctor/facts.h"

#include <mpi.h>

/* The results of one of the two hosts. */
typedef struct doctor_half {
    int peer;            /* -1: it was not measured */
    double latency;      /* s: half of the shortest of some round trips */
    double rate;         /* bytes/s received from the peer */
    double sent, resent; /* segments of TCP sent to the peer, and sent again; 0: no TCP */
    double ahead;        /* s by which the peer's clock is ahead of the own */
    struct {
        double latency, rate;
    } held_up; /* the share of each test for which this rank waited for a processor */
} doctor_half;

/* The results of both hosts. A is the lower rank. */
typedef struct doctor_pair {
    int a, b;
    doctor_half of_a, of_b;
} doctor_pair;

/*
 * Measures with PEER of COMM, which must do the same; takes some tenths of a second. FACTS are this
 * rank's.
 */
int doctor_pair_test(int peer, MPI_Comm comm, const doctor_facts *facts, doctor_half *half);

#endif
