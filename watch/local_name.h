/* The local socket on which the watcher of a process hears coll-watch. */
#ifndef COLL_WATCH_LOCAL_NAME_H
#define COLL_WATCH_LOCAL_NAME_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

/*
 * Writes the NAME for process PID, as this process numbers it, and returns its length. It is in no
 * file system and goes with the process.
 */
size_t watch_local_name(int pid, struct sockaddr_un *name);

#endif
