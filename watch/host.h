/* This host and its processes, as the kernel tells of them. */
#ifndef COLL_WATCH_HOST_H
#define COLL_WATCH_HOST_H

#include "watch/record.h"

#include <netinet/in.h>

/* A process that no later one is taken for. */
typedef struct watch_process {
    int32_t pid;
    uint64_t started; /* clock ticks after the host's start */
} watch_process;

watch_process watch_host_self(void);

/* WATCH_SILENT: it runs; WATCH_STOPPED, WATCH_GONE. */
watch_fate watch_host_look(watch_process process);

/* A number that differs from host to host. */
uint64_t watch_host_id(const char *name);

/*
 * The address of this host on the network that the job uses: what Open MPI's messages are told to
 * go over, or else what its daemons talk over. False where neither is known.
 */
bool watch_host_address(struct in_addr *address);

#endif
