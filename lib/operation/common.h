/*
 * What communicators of one job have in common, so that only the first one's set-up has to find it
 * out: the places of its ranks, and what messages cost. A communicator of some of these ranks, with
 * the same sources of both, takes it from there.
 */
#ifndef COLL_LIB_OPERATION_COMMON_H
#define COLL_LIB_OPERATION_COMMON_H

#include "lib/cost/profile.h"
#include "lib/place/topo.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct coll_common coll_common;

/* What its ranks know of it, alike but for their reports. */
typedef struct coll_common_facts {
    int64_t id; /* no other's; 0: other communicators can't take part in it */
    char topology[4096], source[COLL_PROFILE_SOURCE]; /* where places and costs come from */
    coll_report report;                               /* what this process has told of itself */
    coll_locate_rest rest;                            /* racks aren't known before it is done */
    coll_topo topo;
    coll_profile profile;
} coll_common_facts;

/* Which ranks of MPI_COMM_WORLD a communicator has; MPI_UNDEFINED where they are in another world.
 */
typedef struct coll_world {
    int count, *ranks;
    int size;    /* of MPI_COMM_WORLD */
    int *own;    /* 0, 1, ... */
    int *within; /* which they are in what was found */
} coll_world;

/* Those of COMM, which has so many RANKS; local. To be freed also after an error: MPI_ERR_NO_MEM or
 * MPI's. */
int coll_world_find(MPI_Comm comm, int ranks, coll_world *world);
void coll_world_free(coll_world *world);

/*
 * What this process knows of all ranks of WORLD by these sources (TOPOLOGY NULL: by any), while it
 * has REPORT to tell of itself; the caller's, for coll_common_release, with the ranks' PLACES.
 * NULL: nothing. Whether all ranks have found the same is theirs to find out.
 */
coll_common *coll_common_find(const coll_world *world, const coll_report *report,
                              const char *topology, const char *profile, coll_topo *places);

/* The id of something new that WORLD's ranks have in common; on rank 0. */
int64_t coll_common_number(const coll_world *world);

/* Makes it of FACTS, whose topology and profile are then no longer the caller's; NULL: no memory.
 */
coll_common *coll_common_make(coll_common_facts *facts, const coll_world *world);

/* The rest is done: its nodes' RACKS and SITES, and where they come from. */
void coll_common_locate(coll_common *common, int racks[], int sites[], const char *note);

/* Another user of COMMON, for coll_common_release. */
void coll_common_retain(coll_common *common);

/* Good until COMMON is released. */
const coll_common_facts *coll_common_facts_of(const coll_common *common);

/* Nothing where COMMON is NULL. What most ranks have in common is kept for communicators to come.
 */
void coll_common_release(coll_common *common);

#endif
