/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel says about a process of this host. Needs no MPI. */
#ifndef COLL_WATCH_PROCESS_H
#define COLL_WATCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct watch_process_facts {
    char state; /* R, S, T, Z, ..., as proc(5) lists them */
    int parent;
    uint64_t started; /* clock ticks since boot */
} watch_process_facts;

/* Reads the facts about process PID. Returns false if there is no such process. */
bool watch_process_read(int pid, watch_process_facts *facts);

/* Returns whether a signal or a debugger has stopped the process. */
static inline bool watch_process_is_stopped(const watch_process_facts *facts) {
    return facts->state == 'T' || facts->state == 't';
}

#endif
