/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates BL, the bytes that a switch can buffer before the port of one host. Several hosts flood
 * one host with longer and longer bursts of UDP datagrams. If k bytes are sent in all, the share
 * D/A + B/k arrives (Tam and Wang, eq. 4): A is the arrival rate at the switch, D the departure
 * rate, and B the size of the buffer.
 */
#ifndef COLL_TOOLS_PROFILE_FLOOD_H
#define COLL_TOOLS_PROFILE_FLOOD_H

#include <mpi.h>

enum { FLOOD_STEPS = 10 };

/* The steps of a flood, the shortest burst first. */
typedef struct flood_result {
    int steps;
    double bytes[FLOOD_STEPS];   /* k: sent by all senders */
    double arrived[FLOOD_STEPS]; /* the share of these bytes that arrived */
} flood_result;

/*
 * Makes COUNT SENDERS, which call flood_send at the same time, flood this rank on HOST: first with
 * 16 KB in all, then with twice as much in each step. Ends when over a tenth was lost in two steps,
 * after FLOOD_STEPS steps, before a step of more than MOST bytes, or when nothing arrives, since
 * datagrams are then blocked. Returns an MPI error code; MPI_ERR_OTHER if there is no socket.
 */
int flood_receive(const int senders[], int count, const char *host, double most, MPI_Comm comm,
                  flood_result *result);

/* Sends to RECEIVER until its flood_receive ends. Returns an MPI error code. */
int flood_send(int receiver, MPI_Comm comm);

/*
 * Returns B of eq. 4, in bytes, by least squares over the steps that lost over a tenth. Returns 0
 * if there are fewer than two such steps, or if the fit makes no sense.
 */
double flood_buffer(const flood_result *result);

#endif
