#include "config.h"

#include "cdcp/team.h"

#include "lib/base/error.h"

#include <stdlib.h>

enum { FIRST_WINDOW = 16 };

static int no_memory(void) {
    return coll_error(MPI_ERR_NO_MEM, "a dedicated processor has no memory for a communicator");
}

coll_team *coll_team_new(uint64_t number) {
    coll_team *team = calloc(1, sizeof *team);
    coll_reduction **window = calloc(FIRST_WINDOW, sizeof *window);
    if (!team || !window) {
        free(team);
        free(window);
        return NULL;
    }
    team->number = number;
    team->window = window;
    team->window_size = FIRST_WINDOW;
    return team;
}

void coll_team_free(coll_team *team) {
    if (!team)
        return;
    coll_early_free(&team->early);
    free(team->members);
    free(team->own);
    free(team->arrived);
    free(team->station);
    free(team->stage);
    free(team->window);
    free(team);
}

bool coll_team_ready(const coll_team *team) {
    return team->ranks > 0 && team->listed == team->ranks;
}

/* Fills own, station and position from the members. SEEN has a place for every rank of the job. */
static void find_stations(coll_team *team, const coll_job *job, bool seen[]) {
    for (int i = 0; i < team->ranks; i++) {
        int dcp = job->mapping.dcp_of[team->members[i]];
        if (dcp == job->rank)
            team->own[team->here++] = i;
        if (seen[dcp])
            continue;
        seen[dcp] = true;
        if (dcp == job->rank)
            team->position = team->stations;
        team->station[team->stations++] = dcp;
    }
}

static int plan_exchange(coll_team *team, const coll_job *job) {
    coll_multiply_stage *stages = malloc(COLL_MULTIPLY_STAGES * sizeof *stages);
    if (!stages)
        return no_memory();
    team->stages = coll_multiply_stages(team->stations, job->radix, team->position, stages);
    team->stage = stages;
    if (team->stages > 0) /* what isn't used is given back */
        team->stage = realloc(stages, (size_t)team->stages * sizeof *stages);
    team->stage = team->stage ? team->stage : stages;
    return MPI_SUCCESS;
}

static int settle(coll_team *team, const coll_job *job) {
    size_t ranks = (size_t)team->ranks;
    bool *seen = calloc((size_t)job->mapping.ranks, sizeof *seen);
    team->own = malloc(ranks * sizeof *team->own);
    team->arrived = calloc(ranks, sizeof *team->arrived);
    team->station = malloc(ranks * sizeof *team->station);
    bool good = seen && team->own && team->arrived && team->station;
    if (good)
        find_stations(team, job, seen);
    free(seen);
    return good ? plan_exchange(team, job) : no_memory();
}

int coll_team_list(coll_team *team, const coll_job *job, const coll_wire_header *header,
                   const int32_t members[]) {
    if (!team->members) {
        team->members = malloc((size_t)header->count * sizeof *team->members);
        if (!team->members)
            return no_memory();
        team->ranks = header->count;
    }
    for (int i = 0; i < header->items; i++)
        team->members[header->first + i] = members[i];
    team->listed += header->items;
    return coll_team_ready(team) ? settle(team, job) : MPI_SUCCESS;
}

/* The place of member RANK in own. */
static int place_of(const coll_team *team, int rank) {
    int low = 0, high = team->here - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (team->own[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool coll_team_misses(const coll_team *team, int place, uint32_t sequence) {
    return (int32_t)(team->arrived[place] - (sequence + 1)) < 0;
}

void coll_team_count(coll_team *team, int rank, uint32_t sequence) {
    int place = place_of(team, rank);
    team->taken++;
    if (coll_team_misses(team, place, sequence))
        team->arrived[place] = sequence + 1;
}

bool coll_team_is_over(const coll_team *team) {
    return team->forgotten && team->forgotten == team->here && team->taken == team->posted &&
           !team->under_way;
}
