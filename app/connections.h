/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel knows of this process's TCP connections to other hosts. */
#ifndef COLL_APP_CONNECTIONS_H
#define COLL_APP_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { APP_CONNECTIONS = 1024 };

typedef struct app_connection {
    uint32_t own, peer;    /* IPv4 addresses in network byte order */
    bool connecting;       /* the peer has not answered yet */
    int unanswered;        /* how often the same data was sent again in a row without an answer */
    int segment;           /* the most bytes of a segment that is sent */
    uint64_t sent, resent; /* segments with data */
} app_connection;

/* Reads the connections to LIST, which has APP_CONNECTIONS elements; returns how many. */
int app_connections_read(app_connection list[]);

#endif
