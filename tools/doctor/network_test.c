/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/doctor/network_test.h"

#include "app/agreement.h"
#include "app/clocks.h"
#include "tools/doctor/watchdog.h"

#include <stdlib.h>

/* s: the shortest and the longest sleep of a rank that waits while others measure */
static const double NAP = 200e-6, LONGEST_NAP = 2e-3;

/*
 * Pairs hosts by the circle method, in which each host meets each other host in one round: in round
 * R, host I meets host R - I modulo the number of rounds, and a host that would meet itself meets
 * the last one. The rounds that are measured are spread evenly, so that a host meets near and far
 * hosts.
 */
int doctor_network_partner(int host, int hosts, int nth) {
    const int players = hosts + hosts % 2, rounds = players - 1,
              used = rounds < DOCTOR_ROUNDS ? rounds : DOCTOR_ROUNDS, round = nth * rounds / used;
    int partner = (round - host + rounds) % rounds;
    if (host == rounds)
        partner = (int)((long)round * (players / 2) % rounds);
    else if (partner == host)
        partner = rounds;
    return partner < hosts ? partner : host;
}

/* Waits until all ranks have called this function. Waiting ranks sleep, since they may share cores
 * with ranks that measure. */
static int wait_for_all(MPI_Comm comm) {
    return app_barrier_asleep(comm, NAP, LONGEST_NAP);
}

/* Appends the measured pairs of hosts. HALVES has each host's measurement with its peer. */
static void append_pairs(doctor_network *n, const doctor_half halves[], int hosts) {
    for (int a = 0; a < hosts; a++)
        if (halves[a].peer > a)
            n->pairs[n->count++] =
                (doctor_pair){a, halves[a].peer, halves[a], halves[halves[a].peer]};
}

/* Measures with PARTNER, unless PARTNER is this rank. */
static int test_with(doctor_network *n, int partner, doctor_half halves[]) {
    doctor_half own = {.peer = -1};
    int code = wait_for_all(n->comm);
    doctor_watchdog_calm();
    if (code == MPI_SUCCESS && partner != app_rank(n->comm))
        code = doctor_pair_test(partner, n->comm, n->facts, &own);
    if (code == MPI_SUCCESS)
        code = wait_for_all(n->comm);
    if (code == MPI_SUCCESS)
        code = MPI_Gather(&own, (int)sizeof own, MPI_BYTE, halves, (int)sizeof own, MPI_BYTE, 0,
                          n->comm);
    if (code == MPI_SUCCESS && app_rank(n->comm) == 0)
        append_pairs(n, halves, app_ranks(n->comm));
    return code;
}

int doctor_network_test(doctor_network *n) {
    const int hosts = app_ranks(n->comm), host = app_rank(n->comm),
              rounds =
                  hosts - 1 + hosts % 2 < DOCTOR_ROUNDS ? hosts - 1 + hosts % 2 : DOCTOR_ROUNDS;
    doctor_half *halves = calloc((size_t)hosts, sizeof *halves);
    int code = halves ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    n->count = 0;
    for (int nth = 0; nth < rounds && code == MPI_SUCCESS; nth++)
        code = test_with(n, doctor_network_partner(host, hosts, nth), halves);
    free(halves);
    return code;
}

int doctor_network_test_alone(doctor_network *n, const int wanted[][2], int count_of_wanted,
                              int repeats) {
    const int hosts = app_ranks(n->comm), host = app_rank(n->comm);
    doctor_half *halves = calloc((size_t)hosts, sizeof *halves);
    int code = halves ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    n->count = 0;
    for (int i = 0; i < repeats * count_of_wanted && code == MPI_SUCCESS; i++) {
        const int *pair = wanted[i % count_of_wanted];
        code = test_with(n, host == pair[0] ? pair[1] : host == pair[1] ? pair[0] : host, halves);
    }
    free(halves);
    return code;
}
