/* SPDX-License-Identifier: BSD-3-Clause */
/* This host and its processes, as the kernel describes them. */
#ifndef COLL_WATCH_HOST_H
#define COLL_WATCH_HOST_H

#include "watch/record.h"

#include <netinet/in.h>

/* Identifies a process, even if its number is reused later. */
typedef struct watch_process {
    int32_t pid;
    uint64_t started; /* start time in clock ticks since boot */
} watch_process;

watch_process watch_host_self(void);

/* Returns WATCH_SILENT if PROCESS runs, otherwise WATCH_STOPPED or WATCH_GONE. */
watch_fate watch_host_look(watch_process process);

/*
 * Returns a number that identifies this host, whose host name is NAME. Containers count as hosts.
 */
uint64_t watch_host_id(const char *name);

/*
 * Finds the address of this host on the network that the job uses: the address of an interface in
 * OMPI_MCA_btl_tcp_if_include or UCX_NET_DEVICES, else the address from which packets to the MPI
 * library's daemons leave, if it is not 127.0.0.1, else the address of the first interface other
 * than loopback. Returns false if there is none.
 */
bool watch_host_address(struct in_addr *address);

#endif
