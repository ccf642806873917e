/*
 * A communicator as a DCP knows it: its members, those that this DCP serves, and the DCPs that take
 * part with their order, which is that of the lowest member each of them serves.
 */
#ifndef COLL_CDCP_TEAM_H
#define COLL_CDCP_TEAM_H

#include "cdcp/early.h"
#include "cdcp/job.h"
#include "cdcp/wire.h"
#include "lib/pattern/multiply.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct coll_dcp_call coll_dcp_call;

typedef struct coll_team {
    uint64_t number;
    int ranks; /* members; 0 until the first piece of their list */
    int listed;
    int *members; /* their ranks in the job */
    /* Those that this DCP serves, ascending, and how many contributions of each have come. */
    int here;
    const int *own;
    uint32_t *arrived;
    /*
     * How many of them have freed the communicator; how many posts on it they said that they had
     * made, and how many have come: posts may come later than that word.
     */
    int forgotten;
    uint64_t posted, taken;
    /* The DCPs that take part, by their ranks in the job; this one is at position. */
    int stations, *station, position;
    /* All members, those of a station together and ascending; where each station's begin, and the
     * end; and the station of each member. */
    int *grouped, *group, *station_of;
    int stages;
    coll_multiply_stage *stage;
    /*
     * What goes to another DCP's ranks by the digits of the way there has this radix; and, counted
     * in blocks, the place where what goes so many stations on is on a DCP, in any of the stages.
     */
    int radix, *place_of;
    coll_early_list early; /* messages that came before the list of members */
    /* Calls under way, by their numbers modulo a power of two; and old ones to use again. */
    coll_dcp_call **window;
    uint32_t window_size;
    int under_way;
    coll_dcp_call *spare;
    struct coll_team *next; /* in the table of teams */
} coll_team;

/*
 * A team of which nothing but NUMBER is known; NULL without memory. Its calls must be freed
 * before it (coll_dcp_call_free_all).
 */
coll_team *coll_team_new(uint64_t number);
void coll_team_free(coll_team *team);

/* Whether its members are all known, so that it can work. */
bool coll_team_ready(const coll_team *team);

/* How many members the DCP at position STATION serves, and which, ascending. */
static inline int coll_team_served_by(const coll_team *team, int station) {
    return team->group[station + 1] - team->group[station];
}
static inline const int *coll_team_ranks_of(const coll_team *team, int station) {
    return team->grouped + team->group[station];
}

/*
 * The blocks that are here before STAGE and go WAY stations on from where they began: from each
 * rank of that station to each of the one that they go to.
 */
int coll_team_blocks(const coll_team *team, int way, int stage);

/* Takes a piece of the list of members; when it was the last one the team is ready. */
int coll_team_list(coll_team *team, const coll_job *job, const coll_wire_header *header,
                   const int32_t members[]);

/* The place of member RANK, which this DCP serves, in own. */
int coll_team_place(const coll_team *team, int rank);

/* The member at PLACE of own has contributed to call SEQUENCE. */
void coll_team_count(coll_team *team, int place, uint32_t sequence);

/* Whether the contribution of the member at PLACE of own to call SEQUENCE hasn't come yet. */
bool coll_team_misses(const coll_team *team, int place, uint32_t sequence);

/* Whether all of its members here have freed it, and nothing of it is to come or under way. */
bool coll_team_is_over(const coll_team *team);

#endif
