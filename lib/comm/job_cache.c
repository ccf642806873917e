/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/comm/job_cache.h"

#include "lib/base/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct coll_job_cache {
    coll_job_cache_facts facts;
    int users;  /* references */
    int *ranks; /* for each rank of MPI_COMM_WORLD: its rank in this entry; -1: none */
    struct coll_job_cache *next;
};

/*
 * This process's entries, those with the most ranks first; among entries with equally many ranks
 * the newest is first.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static coll_job_cache *known;

int coll_world_find(MPI_Comm comm, int ranks, coll_world *world) {
    MPI_Group group = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
    size_t bytes = (size_t)ranks * sizeof(int);
    *world = (coll_world){.count = ranks, .own = malloc(3 * bytes)};
    if (!world->own)
        return coll_error(MPI_ERR_NO_MEM, "no memory for the numbers of %d ranks", ranks);
    world->ranks = world->own + ranks;
    world->within = world->ranks + ranks;
    for (int rank = 0; rank < ranks; rank++)
        world->own[rank] = rank;
    int code = PMPI_Comm_group(comm, &group);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_group(MPI_COMM_WORLD, &all);
    if (code == MPI_SUCCESS)
        code = PMPI_Group_size(all, &world->size);
    if (code == MPI_SUCCESS)
        code = PMPI_Group_translate_ranks(group, ranks, world->own, all, world->ranks);
    if (all != MPI_GROUP_NULL)
        PMPI_Group_free(&all);
    if (group != MPI_GROUP_NULL)
        PMPI_Group_free(&group);
    return code;
}

void coll_world_free(coll_world *world) {
    free(world->own);
}

/* Frees unused entries except the largest entry. The caller holds the lock. */
static void free_unused(void) {
    for (coll_job_cache **link = known ? &known->next : &known; *link;) {
        coll_job_cache *common = *link;
        if (common->users > 0) {
            link = &common->next;
        } else {
            *link = common->next;
            coll_topo_free(&common->facts.topo);
            free(common->ranks);
            free(common);
        }
    }
}

static void insert_entry(coll_job_cache *common) {
    coll_job_cache **link = &known;
    pthread_mutex_lock(&lock);
    while (*link && (*link)->facts.topo.ranks > common->facts.topo.ranks)
        link = &(*link)->next;
    common->next = *link;
    *link = common;
    free_unused();
    pthread_mutex_unlock(&lock);
}

void coll_job_cache_retain(coll_job_cache *common) {
    pthread_mutex_lock(&lock);
    common->users++;
    pthread_mutex_unlock(&lock);
}

void coll_job_cache_release(coll_job_cache *common) {
    if (!common)
        return;
    pthread_mutex_lock(&lock);
    common->users--;
    free_unused();
    pthread_mutex_unlock(&lock);
}

const coll_job_cache_facts *coll_job_cache_facts_of(const coll_job_cache *common) {
    return &common->facts;
}

/*
 * Returns whether all ranks of WORLD are in COMMON and COMMON can be shared. Sets WORLD's `within`.
 */
static bool contains(const coll_job_cache *common, const coll_world *world) {
    for (int i = 0; i < world->count; i++) {
        int rank = world->ranks[i];
        world->within[i] = rank == MPI_UNDEFINED ? -1 : common->ranks[rank];
        if (world->within[i] < 0)
            return false;
    }
    return common->facts.id != 0;
}

static bool has_sources(const coll_job_cache_facts *facts, const char *topology,
                        const char *profile) {
    return !topology ||
           (strcmp(facts->topology, topology) == 0 && strcmp(facts->source, profile) == 0);
}

static bool has_report(const coll_job_cache_facts *facts, const coll_rank_info *report) {
    return facts->report.bytes == report->bytes &&
           memcmp(&facts->report, report, coll_rank_info_bytes(report)) == 0;
}

coll_job_cache *coll_job_cache_find(const coll_world *world, const coll_rank_info *report,
                                    const char *topology, const char *profile, coll_topo *places) {
    pthread_mutex_lock(&lock);
    coll_job_cache *common = known;
    while (common &&
           (common->facts.rest != COLL_TOPOLOGY_SOURCE_NOTHING || common->facts.probes_network ||
            !has_sources(&common->facts, topology, profile) ||
            !has_report(&common->facts, report) || !contains(common, world)))
        common = common->next;
    if (common &&
        coll_topo_part(&common->facts.topo, world->count, world->within, places) != MPI_SUCCESS)
        common = NULL;
    if (common)
        common->users++;
    pthread_mutex_unlock(&lock);
    return common;
}

/*
 * Returns whether all processes are in this MPI_COMM_WORLD, so that ranks in it identify the
 * processes.
 */
static bool is_one_world(const coll_world *world) {
    for (int i = 0; i < world->count; i++)
        if (world->ranks[i] == MPI_UNDEFINED)
            return false;
    return true;
}

int64_t coll_job_cache_number(const coll_world *world) {
    static int64_t made; /* under the lock */
    if (!is_one_world(world))
        return 0;
    pthread_mutex_lock(&lock);
    int64_t number = ((int64_t)world->ranks[0] << 32) + ++made;
    pthread_mutex_unlock(&lock);
    return number;
}

coll_job_cache *coll_job_cache_make(coll_job_cache_facts *facts, const coll_world *world) {
    coll_job_cache *common = calloc(1, sizeof *common);
    int *ranks = malloc((size_t)world->size * sizeof *ranks);
    if (!common || !ranks) {
        free(common);
        free(ranks);
        return NULL;
    }
    for (int rank = 0; rank < world->size; rank++)
        ranks[rank] = -1;
    for (int rank = 0; rank < world->count; rank++)
        if (world->ranks[rank] != MPI_UNDEFINED)
            ranks[world->ranks[rank]] = rank;
    *common = (coll_job_cache){.facts = *facts, .users = 1, .ranks = ranks};
    insert_entry(common);
    return common;
}

void coll_job_cache_locate(coll_job_cache *common, int racks[], int sites[], const char *note) {
    pthread_mutex_lock(&lock);
    coll_topo_locate(&common->facts.topo, racks, sites);
    strcpy(common->facts.topo.origin, note);
    common->facts.rest = COLL_TOPOLOGY_SOURCE_NOTHING;
    pthread_mutex_unlock(&lock);
}

void coll_job_cache_set_profile(coll_job_cache *common, const coll_profile *profile) {
    pthread_mutex_lock(&lock);
    common->facts.profile = *profile;
    common->facts.probes_network = false;
    pthread_mutex_unlock(&lock);
}
