/*
 * A process-wide cache of topologies and profiles. The first communicator's set-up determines the
 * places of its ranks and the costs of messages. A later communicator of some of these ranks, with
 * the same sources of topology and profile, reuses the cached entry.
 */
#ifndef COLL_LIB_OPERATION_COMMON_H
#define COLL_LIB_OPERATION_COMMON_H

#include "lib/cost/profile.h"
#include "lib/place/topo.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct coll_common coll_common;

/* A cached entry; the same on all its ranks except the report. */
typedef struct coll_common_facts {
    int64_t id; /* unique; 0: the entry can't be shared with other communicators */
    char topology[4096], source[COLL_PROFILE_SOURCE]; /* sources of topology and profile */
    coll_report report;                               /* this process's own */
    coll_locate_rest rest; /* measurements still to be made before racks and sites are known */
    coll_topo topo;
    coll_profile profile;
} coll_common_facts;

/* The ranks that a communicator's processes have in MPI_COMM_WORLD; MPI_UNDEFINED for processes of
 * other worlds. */
typedef struct coll_world {
    int count, *ranks;
    int size;    /* of MPI_COMM_WORLD */
    int *own;    /* the communicator's ranks: 0, 1, ... */
    int *within; /* their ranks in the entry that coll_common_find returns */
} coll_world;

/* Sets WORLD for COMM, which has RANKS ranks. Local. Returns MPI_ERR_NO_MEM or MPI's error; WORLD
 * must be freed even then. */
int coll_world_find(MPI_Comm comm, int ranks, coll_world *world);
void coll_world_free(coll_world *world);

/*
 * Returns this process's entry that covers all ranks of WORLD, has these sources (TOPOLOGY NULL:
 * any) and the same REPORT; NULL if there is none. The caller releases it. Sets *PLACES to the
 * topology of WORLD's ranks. Other ranks may find another entry: the caller must compare the ids.
 */
coll_common *coll_common_find(const coll_world *world, const coll_report *report,
                              const char *topology, const char *profile, coll_topo *places);

/* Returns the id for a new entry of WORLD's ranks; 0 if they are of several worlds. Called on rank
 * 0.
 */
int64_t coll_common_number(const coll_world *world);

/* Adds an entry made of FACTS, whose topology it then owns. Returns NULL without memory. */
coll_common *coll_common_make(coll_common_facts *facts, const coll_world *world);

/* Completes an entry with its nodes' measured RACKS and SITES; NOTE says how they were found. */
void coll_common_locate(coll_common *common, int racks[], int sites[], const char *note);

/* Adds a reference to COMMON, to be released with coll_common_release. */
void coll_common_retain(coll_common *common);

/* Returns the facts of COMMON, which are valid until it is released. */
const coll_common_facts *coll_common_facts_of(const coll_common *common);

/* Releases a reference to COMMON, which may be NULL. The entry with the most ranks stays cached for
 * later communicators. */
void coll_common_release(coll_common *common);

#endif
