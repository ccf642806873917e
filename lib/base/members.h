/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers and broadcasts small data among some ranks of a communicator, for the set-up of
 * communicators and for measurements. The messages follow a tree of radix 4, so that no rank
 * opens more than some 3 log4(p) connections: each open connection takes a file descriptor, and
 * some MPI libraries ask the system about all of them whenever they wait.
 */
#ifndef COLL_LIB_BASE_MEMBERS_H
#define COLL_LIB_BASE_MEMBERS_H

#include "lib/base/comm.h"

#include <stddef.h>

/* The ranks that take part, in a fixed order. The first one is the root. */
typedef struct coll_members {
    coll_comm *comm;
    coll_wait *wait;
    const int *ranks; /* of the members, in COMM; NULL: all ranks of COMM */
    int count;        /* number of members */
    int own;          /* this rank's index among them */
    int tag;
} coll_members;

/* Returns all ranks of COMM, which wait as COMM does. */
coll_members coll_members_all(coll_comm *comm, int tag);

/*
 * Gathers BYTES at OWN from each member. On the root, ALL receives the data of all members in their
 * order. Other members pass PASSING, room for BYTES; so does the root if ALL is NULL, in which case
 * it keeps nothing. After an error MPI may still write to this memory. Returns MPI's errors and
 * those of the wait.
 */
int coll_members_gather(const coll_members *members, const void *own, size_t bytes, void *all,
                        void *passing);

/* Broadcasts BYTES at DATA from the root. After an error MPI may still use DATA. Returns MPI's
 * errors and those of the wait. */
int coll_members_bcast(const coll_members *members, void *data, size_t bytes);

/* Sends BYTES at DATA to the members below this one in the tree. */
int coll_members_pass_on(const coll_members *members, const void *data, size_t bytes);

#endif
