/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks the kernel about this process's TCP connections. This takes a few system calls for each
 * connection, and sends no message. No MPI.
 */
#ifndef COLL_LIB_TOPOLOGY_TCP_INFO_H
#define COLL_LIB_TOPOLOGY_TCP_INFO_H

/*
 * Returns the shortest round trip in seconds that the kernel has seen on any of this process's TCP
 * connections to other hosts; 0 if there is none.
 */
double coll_tcp_info_round_trip(void);

#endif
