/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/server_comm.h"

#include "lib/base/error.h"
#include "lib/pattern/radix.h"

#include <stdlib.h>

enum { FIRST_WINDOW = 16 };

static int no_memory(void) {
    return coll_error(MPI_ERR_NO_MEM, "a dedicated processor has no memory for a communicator");
}

coll_server_comm *coll_server_comm_new(uint64_t number) {
    coll_server_comm *comm = calloc(1, sizeof *comm);
    coll_dcp_call **window = calloc(FIRST_WINDOW, sizeof *window);
    if (!comm || !window) {
        free(comm);
        free(window);
        return NULL;
    }
    comm->number = number;
    comm->window = window;
    comm->window_size = FIRST_WINDOW;
    return comm;
}

void coll_server_comm_free(coll_server_comm *comm) {
    if (!comm)
        return;
    coll_unexpected_queue_free(&comm->unexpected);
    free(comm->members);
    free(comm->grouped);
    free(comm->group);
    free(comm->station_of);
    free(comm->arrived);
    free(comm->station);
    free(comm->stage);
    free(comm->place_of);
    free(comm->window);
    free(comm);
}

bool coll_server_comm_ready(const coll_server_comm *comm) {
    return comm->ranks > 0 && comm->listed == comm->ranks;
}

/*
 * Sets STATION, POSITION and STATION_OF from the members. POSITION_OF is scratch memory with one
 * element for each rank of the job; all elements must be -1 on entry.
 */
static void find_stations(coll_server_comm *comm, const coll_job *job, int position_of[]) {
    for (int i = 0; i < comm->ranks; i++) {
        int dcp = job->mapping.dcp_of[comm->members[i]];
        if (position_of[dcp] < 0) {
            position_of[dcp] = comm->stations;
            comm->station[comm->stations++] = dcp;
        }
        comm->station_of[i] = position_of[dcp];
        if (dcp == job->rank)
            comm->position = position_of[dcp];
    }
}

/*
 * Sets GROUPED and GROUP from STATION_OF; GROUP must be all zeros before. Also sets HERE and OWN,
 * the members that this DCP serves.
 */
static void group_members(coll_server_comm *comm) {
    for (int i = 0; i < comm->ranks; i++)
        comm->group[comm->station_of[i] + 1]++;
    for (int station = 0; station < comm->stations; station++)
        comm->group[station + 1] += comm->group[station];
    /* This moves the start of each group to its end, where the next group starts. */
    for (int i = 0; i < comm->ranks; i++)
        comm->grouped[comm->group[comm->station_of[i]]++] = i;
    for (int station = comm->stations; station > 0; station--)
        comm->group[station] = comm->group[station - 1];
    comm->group[0] = 0;
    comm->here = coll_server_comm_served_by(comm, comm->position);
    comm->own = coll_server_comm_ranks_of(comm, comm->position);
}

static int plan_exchange(coll_server_comm *comm, const coll_job *job) {
    coll_multiply_stage *stages = malloc(COLL_MULTIPLY_STAGES * sizeof *stages);
    if (!stages)
        return no_memory();
    comm->stages = coll_multiply_stages(comm->stations, job->radix, comm->position, stages);
    comm->stage = stages;
    if (comm->stages > 0) /* free unused memory */
        comm->stage = realloc(stages, (size_t)comm->stages * sizeof *stages);
    comm->stage = comm->stage ? comm->stage : stages;
    return MPI_SUCCESS;
}

int coll_server_comm_blocks(const coll_server_comm *comm, int distance, int stage) {
    int stations = comm->stations, gone = distance % coll_radix_worth(comm->radix, stage);
    int from = (comm->position - gone + stations) % stations, to = (from + distance) % stations;
    return coll_server_comm_served_by(comm, from) * coll_server_comm_served_by(comm, to);
}

/*
 * Sets the radix of exchanges by digits, and the places of their blocks. There are at most as many
 * stages as in an exchange among all of the job's DCPs.
 */
static void plan_digits(coll_server_comm *comm, const coll_job *job) {
    int most = 0;
    comm->radix = coll_radix_for(comm->stations, job->digits);
    for (int distance = 0; distance < comm->stations; distance++, most = 0) {
        for (int stage = 0; stage <= job->digits; stage++) {
            int blocks = coll_server_comm_blocks(comm, distance, stage);
            most = blocks > most ? blocks : most;
        }
        comm->place_of[distance + 1] = comm->place_of[distance] + most;
    }
}

static int set_up_exchanges(coll_server_comm *comm, const coll_job *job) {
    size_t ranks = (size_t)comm->ranks, all = (size_t)job->mapping.ranks;
    int *position_of = malloc(all * sizeof *position_of);
    comm->grouped = malloc(ranks * sizeof *comm->grouped);
    comm->group = calloc(ranks + 1, sizeof *comm->group);
    comm->station_of = malloc(ranks * sizeof *comm->station_of);
    comm->arrived = calloc(ranks, sizeof *comm->arrived);
    comm->station = malloc(ranks * sizeof *comm->station);
    comm->place_of = calloc(ranks + 1, sizeof *comm->place_of);
    bool good = position_of && comm->grouped && comm->group && comm->station_of && comm->arrived &&
                comm->station && comm->place_of;
    for (size_t i = 0; i < all && good; i++)
        position_of[i] = -1;
    if (good) {
        find_stations(comm, job, position_of);
        group_members(comm);
        plan_digits(comm, job);
    }
    free(position_of);
    return good ? plan_exchange(comm, job) : no_memory();
}

int coll_server_comm_list(coll_server_comm *comm, const coll_job *job,
                          const coll_wire_header *header, const int32_t members[]) {
    if (!comm->members) {
        comm->members = malloc((size_t)header->count * sizeof *comm->members);
        if (!comm->members)
            return no_memory();
        comm->ranks = header->count;
    }
    for (int i = 0; i < header->items; i++)
        comm->members[header->first + i] = members[i];
    comm->listed += header->items;
    return coll_server_comm_ready(comm) ? set_up_exchanges(comm, job) : MPI_SUCCESS;
}

int coll_server_comm_place(const coll_server_comm *comm, int rank) {
    int low = 0, high = comm->here - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (comm->own[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool coll_server_comm_misses(const coll_server_comm *comm, int place, uint32_t sequence) {
    return (int32_t)(comm->arrived[place] - (sequence + 1)) < 0;
}

void coll_server_comm_count(coll_server_comm *comm, int place, uint32_t sequence) {
    comm->taken++;
    if (coll_server_comm_misses(comm, place, sequence))
        comm->arrived[place] = sequence + 1;
}

bool coll_server_comm_is_over(const coll_server_comm *comm) {
    return comm->forgotten && comm->forgotten == comm->here && comm->taken == comm->posted &&
           !comm->under_way;
}
