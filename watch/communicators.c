/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/communicators.h"

#include "watch/calls.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*
 * Hash table with open addressing: a handle is in one of TRIES successive slots, the first of which
 * a hash of the handle selects.
 */
enum { PLACES = 512, TRIES = 16 };
static watch_comm places[PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The C handle that PMPI_Comm_f2c returns for Fortran's MPI_COMM_WORLD. It differs from
 * MPI_COMM_WORLD if dedicated processors are in use. */
static MPI_Comm other_world;
static MPI_Group world_group;

/* Number of uncertain ids given out. */
static uint64_t uncertain;

uint64_t watch_mix(uint64_t hash, uint64_t number) {
    hash ^= number + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 31);
}

static watch_comm *place_of(MPI_Comm comm, int try) {
    return &places[(watch_handle_hash((uintptr_t)comm) + (size_t)try) % PLACES];
}

static watch_comm *look_up(MPI_Comm comm) {
    for (int try = 0; try < TRIES; try++) {
        watch_comm *place = place_of(comm, try);
        if (__atomic_load_n(&place->handle, __ATOMIC_ACQUIRE) == comm)
            return place;
    }
    return NULL;
}

static watch_comm *store_comm(MPI_Comm comm, const watch_comm_info *info) {
    pthread_mutex_lock(&lock);
    watch_comm *place = look_up(comm);
    for (int try = 0; !place && try < TRIES; try++)
        if (!place_of(comm, try)->handle)
            place = place_of(comm, try);
    if (place) {
        place->info = *info;
        place->checking = MPI_COMM_NULL;
        __atomic_store_n(&place->handle, comm, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return place;
}

/*
 * Returns the rank in MPI_COMM_WORLD of COMM's rank 0, or MPI_UNDEFINED. An intercommunicator has
 * two ranks 0, of which the one with the smaller rank in MPI_COMM_WORLD counts.
 */
static int first_rank(MPI_Comm comm, bool inter) {
    int first = MPI_UNDEFINED, zero = 0;
    for (int remote = 0; remote <= inter; remote++) {
        MPI_Group group;
        int rank = MPI_UNDEFINED;
        int code = remote ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group);
        if (code != MPI_SUCCESS)
            return MPI_UNDEFINED;
        PMPI_Group_translate_ranks(group, 1, &zero, world_group, &rank);
        PMPI_Group_free(&group);
        if (rank == MPI_UNDEFINED)
            return MPI_UNDEFINED;
        first = remote && first < rank ? first : rank;
    }
    return first;
}

static bool query_comm(MPI_Comm comm, watch_comm_info *info) {
    int inter = 0;
    *info = (watch_comm_info){.certain = 0};
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
        PMPI_Comm_rank(comm, &info->rank) != MPI_SUCCESS ||
        PMPI_Comm_size(comm, &info->size) != MPI_SUCCESS)
        return false;
    info->inter = inter != 0;
    return true;
}

int watch_comm_begin(void) {
    watch_comm_info world, self;
    int code = PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    if (code != MPI_SUCCESS)
        return code;
    if (!query_comm(MPI_COMM_WORLD, &world) || !query_comm(MPI_COMM_SELF, &self))
        return MPI_ERR_COMM;
    world.id = WATCH_WORLD;
    self.id = watch_mix(WATCH_WORLD, (uint64_t)world.rank) & ~WATCH_ALONE;
    world.certain = self.certain = 1;
    snprintf(world.name, sizeof world.name, "MPI_COMM_WORLD");
    snprintf(self.name, sizeof self.name, "MPI_COMM_SELF");
    store_comm(MPI_COMM_WORLD, &world);
    store_comm(MPI_COMM_SELF, &self);
#ifdef COLL_MPI_ABI
    other_world = MPI_COMM_WORLD;
#else
    other_world = PMPI_Comm_f2c(PMPI_Comm_c2f(MPI_COMM_WORLD));
#endif
    return MPI_SUCCESS;
}

/*
 * Adds a communicator with an uncertain id: its creation was not seen, or MPI creates it only after
 * the call that returned its handle, as MPI_Comm_idup does.
 */
static watch_comm *add_uncertain_comm(MPI_Comm comm) {
    watch_comm_info info;
    if (!query_comm(comm, &info))
        return NULL;
    info.id = watch_mix(watch_mix(UINT64_MAX, (uint64_t)first_rank(comm, info.inter)),
                        __atomic_add_fetch(&uncertain, 1, __ATOMIC_RELAXED)) |
              WATCH_ALONE;
    return store_comm(comm, &info);
}

watch_comm *watch_comm_find(MPI_Comm comm) {
    if (!comm || comm == MPI_COMM_NULL)
        return NULL;
    if (comm == other_world)
        comm = MPI_COMM_WORLD;
    watch_comm *place = look_up(comm);
    return place ? place : add_uncertain_comm(comm);
}

watch_comm *watch_comm_made(MPI_Comm comm, const watch_comm *parent, uint32_t number, int made_by) {
    watch_comm_info info;
    if (!comm || comm == MPI_COMM_NULL || !query_comm(comm, &info))
        return NULL;
    int first = first_rank(comm, info.inter);
    info.certain = parent && parent->info.certain && number && first != MPI_UNDEFINED;
    if (!info.certain)
        return add_uncertain_comm(comm);
    info.parent = parent->info.id;
    info.parent_number = number;
    info.made_by = (uint16_t)made_by;
    info.id = watch_mix(watch_mix(parent->info.id, number), (uint64_t)first);
    info.id = info.inter ? info.id | WATCH_ALONE : info.id & ~WATCH_ALONE;
    return store_comm(comm, &info);
}

void watch_comm_forget(MPI_Comm comm) {
    pthread_mutex_lock(&lock);
    watch_comm *place = comm ? look_up(comm) : NULL;
    if (place)
        __atomic_store_n(&place->handle, (MPI_Comm)0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

void watch_comm_named(MPI_Comm comm, const char *name) {
    watch_comm *place = watch_comm_find(comm);
    if (!place || !name)
        return;
    pthread_mutex_lock(&lock);
    snprintf(place->info.name, sizeof place->info.name, "%s", name);
    pthread_mutex_unlock(&lock);
}

int watch_comm_list(watch_comm_info list[], int room) {
    int count = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < PLACES && count < room; i++)
        if (places[i].handle)
            list[count++] = places[i].info;
    pthread_mutex_unlock(&lock);
    return count;
}
