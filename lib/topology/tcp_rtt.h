/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures round trips between hosts in which only their kernels take part: a TCP connection is
 * requested and refused. No process of the other host has to be awake for that, so the time of the
 * network is accurate to a fraction of a microsecond even if processors are busy, unlike a
 * ping-pong of MPI messages. No MPI; IPv4 only.
 */
#ifndef COLL_LIB_TOPOLOGY_TCP_RTT_H
#define COLL_LIB_TOPOLOGY_TCP_RTT_H

#include <netinet/in.h>
#include <stdbool.h>

/*
 * Reserves a TCP port of this host on which connections are refused, until the returned file
 * descriptor is closed or listened on. Returns -1 and sets errno on failure.
 */
int coll_tcp_rtt_reserve(int *port);

/*
 * Finds the address of PORT on HOST; may wait for the name service. Returns false if there is none.
 */
bool coll_tcp_rtt_find(const char *host, int port, struct sockaddr_in *address);

/* Most addresses that can be measured in one call. */
enum { COLL_TCP_RTTS = 64 };

/*
 * Measures round trips to reserved ports at COUNT addresses: SECONDS[i] is the shortest of several
 * round trips to TO[i]; it is negative if no try is answered within TIMEOUT seconds. First all
 * addresses are tried at the same time, then again those that did not answer within a millisecond.
 * The addresses that answered within a millisecond are then tried one after the other, several
 * times; for the others microseconds do not matter.
 */
void coll_tcp_rtts(int count, const struct sockaddr_in to[], double timeout, double seconds[]);

#endif
