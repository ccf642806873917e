/* SPDX-License-Identifier: BSD-3-Clause */
/* The local socket on which the watcher of a process accepts connections from coll-watch. */
#ifndef COLL_WATCH_LOCAL_NAME_H
#define COLL_WATCH_LOCAL_NAME_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Writes the socket address of process PID, as numbered in this process's PID namespace, to NAME.
 * Returns its length. The address is in no file system and vanishes with the process.
 */
size_t watch_local_name(int pid, struct sockaddr_un *name);

#endif
