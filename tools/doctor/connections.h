/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel knows of this process's TCP connections to other hosts. */
#ifndef COLL_TOOLS_DOCTOR_CONNECTIONS_H
#define COLL_TOOLS_DOCTOR_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { DOCTOR_CONNECTIONS = 1024 };

typedef struct doctor_connection {
    uint32_t own, peer;    /* IPv4 addresses in network byte order */
    bool connecting;       /* the peer has not answered yet */
    int unanswered;        /* how often the same data was sent again in a row without an answer */
    int segment;           /* the most bytes of a segment that is sent */
    uint64_t sent, resent; /* segments with data */
} doctor_connection;

/* Reads the connections to LIST, which has DOCTOR_CONNECTIONS elements; returns how many. */
int doctor_connections_read(doctor_connection list[]);

#endif
