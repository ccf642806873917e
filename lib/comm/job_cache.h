/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process-wide cache of topologies and profiles. The first communicator's set-up determines the
 * places of its ranks and the costs of messages. A later communicator of some of these ranks, with
 * the same sources of topology and profile, reuses the cached entry.
 */
#ifndef COLL_LIB_COMM_JOB_CACHE_H
#define COLL_LIB_COMM_JOB_CACHE_H

#include "lib/cost/profile.h"
#include "lib/topology/topo.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct coll_job_cache coll_job_cache;

/* A cached entry; the same on all ranks of the entry, except REPORT. */
typedef struct coll_job_cache_facts {
    int64_t id; /* unique; 0: the entry can't be shared with other communicators */
    char topology[4096], source[COLL_PROFILE_SOURCE]; /* sources of topology and profile */
    coll_rank_info report;                            /* this process's own */
    coll_topology_source_rest
        rest;            /* measurements still to be made before racks and sites are known */
    bool doubtful;       /* if REST is nothing: there may be racks that round trips did not show */
    bool probes_network; /* the network is still to be measured */
    coll_topo topo;
    coll_profile profile;
} coll_job_cache_facts;

/* The ranks that a communicator's processes have in MPI_COMM_WORLD; MPI_UNDEFINED for processes of
 * other worlds. */
typedef struct coll_world {
    int count, *ranks;
    int size;    /* of MPI_COMM_WORLD */
    int *own;    /* the communicator's ranks: 0, 1, ... */
    int *within; /* their ranks in the entry that coll_job_cache_find returns */
} coll_world;

/* Sets WORLD for COMM, which has RANKS ranks. Local. Returns MPI_ERR_NO_MEM or MPI's error; WORLD
 * must be freed even then. */
int coll_world_find(MPI_Comm comm, int ranks, coll_world *world);
void coll_world_free(coll_world *world);

/*
 * Returns this process's entry that covers all ranks of WORLD, has these sources (TOPOLOGY NULL:
 * any) and the same REPORT, and needs no more measurements; NULL if there is none or if out of
 * memory. The caller releases the entry. Sets *PLACES to the topology of WORLD's ranks, which the
 * caller frees. Other ranks may find another entry: the caller must compare the ids.
 */
coll_job_cache *coll_job_cache_find(const coll_world *world, const coll_rank_info *report,
                                    const char *topology, const char *profile, coll_topo *places);

/* Returns the id for a new entry of WORLD's ranks; 0 if some of them are in another MPI_COMM_WORLD.
 * Called on rank 0. */
int64_t coll_job_cache_number(const coll_world *world);

/* Adds an entry made of FACTS and returns it; the caller releases it. The entry then owns the
 * topology of FACTS. Returns NULL if out of memory. */
coll_job_cache *coll_job_cache_make(coll_job_cache_facts *facts, const coll_world *world);

/* Completes an entry with its nodes' measured RACKS and SITES; NOTE says how they were found. */
void coll_job_cache_locate(coll_job_cache *common, int racks[], int sites[], const char *note);

/* Completes an entry with the PROFILE of its measured network. */
void coll_job_cache_set_profile(coll_job_cache *common, const coll_profile *profile);

/* Adds a reference to COMMON, to be released with coll_job_cache_release. */
void coll_job_cache_retain(coll_job_cache *common);

/* Returns the facts of COMMON, which are valid until it is released. */
const coll_job_cache_facts *coll_job_cache_facts_of(const coll_job_cache *common);

/* Releases a reference to COMMON, which may be NULL. The entry with the most ranks stays cached for
 * later communicators. */
void coll_job_cache_release(coll_job_cache *common);

#endif
