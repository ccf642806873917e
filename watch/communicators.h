/*
 * Communicators of the program, by an id that all of their ranks come to without a message: made
 * from the id of the parent, which of its collectives this was, and its first rank in
 * MPI_COMM_WORLD.
 */
#ifndef COLL_WATCH_COMMUNICATORS_H
#define COLL_WATCH_COMMUNICATORS_H

#include "watch/record.h"

#include <mpi.h>

typedef struct watch_comm {
    MPI_Comm handle; /* NULL: the place is free */
    watch_comm_info info;
    MPI_Comm checking; /* of COLL_WATCH=check, for its messages; or MPI_COMM_NULL */
} watch_comm;

/* Makes MPI_COMM_WORLD and MPI_COMM_SELF known, after MPI_Init. */
int watch_comm_begin(void);

/* COMM's place; one not seen before gets an id that isn't certain. NULL: no communicator, no room.
 */
watch_comm *watch_comm_find(MPI_Comm comm);

/*
 * COMM came from collective NUMBER on PARENT, by the call MADE_BY; PARENT may be NULL: not known.
 * Returns its place or NULL.
 */
watch_comm *watch_comm_made(MPI_Comm comm, const watch_comm *parent, uint32_t number, int made_by);

void watch_comm_forget(MPI_Comm comm);
void watch_comm_named(MPI_Comm comm, const char *name);

/* Copies of those that are known, for another thread: at most ROOM; returns how many. */
int watch_comm_list(watch_comm_info list[], int room);

/* Mixes NUMBER into HASH. */
uint64_t watch_mix(uint64_t hash, uint64_t number);

#endif
