/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what the kernel knows of this process's TCP connections. It costs a few system calls for
 * each connection and no message. No MPI.
 */
#ifndef COLL_LIB_TOPOLOGY_TCP_INFO_H
#define COLL_LIB_TOPOLOGY_TCP_INFO_H

#include <stdint.h>

/*
 * Returns the shortest round trip in seconds that the kernel has seen on any of this process's TCP
 * connections to other hosts; 0 if there is none.
 */
double coll_tcp_info_round_trip(void);

/* What this process has sent on one TCP connection to another host. */
typedef struct coll_tcp_connection {
    uint32_t own, peer;    /* IPv4 addresses in network byte order */
    double bytes;          /* that the peer has acknowledged */
    double busy;           /* s in which data waited to be acknowledged, and the peer had room */
    uint64_t sent, resent; /* segments with data */
} coll_tcp_connection;

enum { COLL_TCP_CONNECTIONS = 1024 };

/* Reads the connections by IPv4 to LIST, which has room for COLL_TCP_CONNECTIONS; returns their
 * number. */
int coll_tcp_info_read(coll_tcp_connection list[]);

#endif
