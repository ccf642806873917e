#include "config.h"

#include "cdcp/team.h"

#include "lib/base/error.h"
#include "lib/pattern/radix.h"

#include <stdlib.h>

enum { FIRST_WINDOW = 16 };

static int no_memory(void) {
    return coll_error(MPI_ERR_NO_MEM, "a dedicated processor has no memory for a communicator");
}

coll_team *coll_team_new(uint64_t number) {
    coll_team *team = calloc(1, sizeof *team);
    coll_dcp_call **window = calloc(FIRST_WINDOW, sizeof *window);
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
    free(team->grouped);
    free(team->group);
    free(team->station_of);
    free(team->arrived);
    free(team->station);
    free(team->stage);
    free(team->place_of);
    free(team->window);
    free(team);
}

bool coll_team_ready(const coll_team *team) {
    return team->ranks > 0 && team->listed == team->ranks;
}

/*
 * Sets STATION, POSITION and STATION_OF from the members. POSITION_OF has an element for every rank
 * of the job, which is -1.
 */
static void find_stations(coll_team *team, const coll_job *job, int position_of[]) {
    for (int i = 0; i < team->ranks; i++) {
        int dcp = job->mapping.dcp_of[team->members[i]];
        if (position_of[dcp] < 0) {
            position_of[dcp] = team->stations;
            team->station[team->stations++] = dcp;
        }
        team->station_of[i] = position_of[dcp];
        if (dcp == job->rank)
            team->position = position_of[dcp];
    }
}

/*
 * Sets GROUPED and GROUP, which is all zeros, from STATION_OF, and the members that this DCP
 * serves.
 */
static void group_members(coll_team *team) {
    for (int i = 0; i < team->ranks; i++)
        team->group[team->station_of[i] + 1]++;
    for (int station = 0; station < team->stations; station++)
        team->group[station + 1] += team->group[station];
    for (int i = 0; i < team->ranks; i++) /* each group's start moves to its end, */
        team->grouped[team->group[team->station_of[i]]++] = i;
    for (int station = team->stations; station > 0; station--) /* where the next group starts */
        team->group[station] = team->group[station - 1];
    team->group[0] = 0;
    team->here = coll_team_served_by(team, team->position);
    team->own = coll_team_ranks_of(team, team->position);
}

static int plan_exchange(coll_team *team, const coll_job *job) {
    coll_multiply_stage *stages = malloc(COLL_MULTIPLY_STAGES * sizeof *stages);
    if (!stages)
        return no_memory();
    team->stages = coll_multiply_stages(team->stations, job->radix, team->position, stages);
    team->stage = stages;
    if (team->stages > 0) /* free unused memory */
        team->stage = realloc(stages, (size_t)team->stages * sizeof *stages);
    team->stage = team->stage ? team->stage : stages;
    return MPI_SUCCESS;
}

int coll_team_blocks(const coll_team *team, int distance, int stage) {
    int stations = team->stations, gone = distance % coll_radix_worth(team->radix, stage);
    int from = (team->position - gone + stations) % stations, to = (from + distance) % stations;
    return coll_team_served_by(team, from) * coll_team_served_by(team, to);
}

/*
 * Sets the radix of exchanges by digits, and the places of their blocks. The number of stages is
 * that of all the job's DCPs.
 */
static void plan_digits(coll_team *team, const coll_job *job) {
    int most = 0;
    team->radix = coll_radix_for(team->stations, job->digits);
    for (int distance = 0; distance < team->stations; distance++, most = 0) {
        for (int stage = 0; stage <= job->digits; stage++) {
            int blocks = coll_team_blocks(team, distance, stage);
            most = blocks > most ? blocks : most;
        }
        team->place_of[distance + 1] = team->place_of[distance] + most;
    }
}

static int set_up_exchanges(coll_team *team, const coll_job *job) {
    size_t ranks = (size_t)team->ranks, all = (size_t)job->mapping.ranks;
    int *position_of = malloc(all * sizeof *position_of);
    team->grouped = malloc(ranks * sizeof *team->grouped);
    team->group = calloc(ranks + 1, sizeof *team->group);
    team->station_of = malloc(ranks * sizeof *team->station_of);
    team->arrived = calloc(ranks, sizeof *team->arrived);
    team->station = malloc(ranks * sizeof *team->station);
    team->place_of = calloc(ranks + 1, sizeof *team->place_of);
    bool good = position_of && team->grouped && team->group && team->station_of && team->arrived &&
                team->station && team->place_of;
    for (size_t i = 0; i < all && good; i++)
        position_of[i] = -1;
    if (good) {
        find_stations(team, job, position_of);
        group_members(team);
        plan_digits(team, job);
    }
    free(position_of);
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
    return coll_team_ready(team) ? set_up_exchanges(team, job) : MPI_SUCCESS;
}

int coll_team_place(const coll_team *team, int rank) {
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

void coll_team_count(coll_team *team, int place, uint32_t sequence) {
    team->taken++;
    if (coll_team_misses(team, place, sequence))
        team->arrived[place] = sequence + 1;
}

bool coll_team_is_over(const coll_team *team) {
    return team->forgotten && team->forgotten == team->here && team->taken == team->posted &&
           !team->under_way;
}
