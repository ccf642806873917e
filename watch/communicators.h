/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's communicators, with ids that all of their ranks compute without communication. An
 * id is a hash of the parent's id, the sequence number of the creating collective on the parent,
 * and the rank in MPI_COMM_WORLD of the communicator's rank 0.
 */
#ifndef COLL_WATCH_COMMUNICATORS_H
#define COLL_WATCH_COMMUNICATORS_H

#include "watch/record.h"

#include <mpi.h>
#include <stddef.h>

typedef struct watch_comm {
    MPI_Comm handle; /* 0 if this slot is free */
    watch_comm_info info;
    MPI_Comm checking; /* for the comparisons of COLL_WATCH=check, or MPI_COMM_NULL */
} watch_comm;

/* Registers MPI_COMM_WORLD and MPI_COMM_SELF, after MPI_Init. Returns an MPI error code. */
int watch_comm_begin(void);

/*
 * Returns COMM's entry. Adds a communicator that was not seen before, with an uncertain id. Returns
 * NULL if COMM is no communicator or the table has no room for it.
 */
watch_comm *watch_comm_find(MPI_Comm comm);

/*
 * Adds COMM, which the call MADE_BY (an index into watch_calls) created as collective NUMBER on
 * PARENT; PARENT is NULL if it is unknown. Returns COMM's entry, or NULL.
 */
watch_comm *watch_comm_made(MPI_Comm comm, const watch_comm *parent, uint32_t number, int made_by);

void watch_comm_forget(MPI_Comm comm);
void watch_comm_named(MPI_Comm comm, const char *name);

/*
 * Copies the descriptions of at most ROOM registered communicators to LIST. Returns how many. May
 * be called from any thread.
 */
int watch_comm_list(watch_comm_info list[], int room);

/* Returns HASH extended by NUMBER. */
uint64_t watch_mix(uint64_t hash, uint64_t number);

/*
 * Returns a hash of a handle of MPI, cast to a number. Handles are pointers in Open MPI, and in
 * MPICH integers of which only the last bits differ.
 */
static inline size_t watch_handle_hash(uintptr_t handle) {
    return (size_t)((uint64_t)handle * 0x9e3779b97f4a7c15u >> 40);
}

#endif
