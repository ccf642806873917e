/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the kernel's data about this process's TCP connections to other hosts, for programs. */
#ifndef COLL_APP_CONNECTIONS_H
#define COLL_APP_CONNECTIONS_H

#include "lib/base/tcp_connections.h"

enum { APP_CONNECTIONS = COLL_TCP_CONNECTIONS };

typedef coll_tcp_connection app_connection;

/* Reads the IPv4 connections into LIST, of APP_CONNECTIONS elements. Returns their number. */
static inline int app_connections_read(app_connection list[]) {
    return coll_tcp_connections_read(list);
}

#endif
