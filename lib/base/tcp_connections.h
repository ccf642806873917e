/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel knows of this process's TCP connections to other hosts. Reading this takes a few
 * system calls for each connection, and sends no messages.
 */
#ifndef COLL_LIB_BASE_TCP_CONNECTIONS_H
#define COLL_LIB_BASE_TCP_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct coll_tcp_connection {
    uint32_t own, peer;    /* IPv4 addresses in network byte order; PEER 0: unknown */
    bool connecting;       /* the peer has not answered yet */
    int unanswered;        /* how often the same data was sent again in a row without an answer */
    int segment;           /* the most bytes of a segment that this host sends */
    double bytes;          /* that the peer has acknowledged */
    double busy;           /* s in which data was unacknowledged and the peer's window was open */
    uint64_t sent, resent; /* segments with data */
} coll_tcp_connection;

enum { COLL_TCP_CONNECTIONS = 1024 };

/* Reads the IPv4 connections to other hosts into LIST, which has room for COLL_TCP_CONNECTIONS, and
 * returns their number. */
int coll_tcp_connections_read(coll_tcp_connection list[]);

#endif
