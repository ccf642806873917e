/*
 * All measurements of a profile, in order: at each level pairs, one after the other; concurrent
 * pairs; relays; converging streams; floods. Rank 0 directs, and all who don't take part sleep.
 */
#ifndef COLL_TOOLS_PROFILE_SURVEY_H
#define COLL_TOOLS_PROFILE_SURVEY_H

#include "tools/profile/copies.h"
#include "tools/profile/crowd.h"
#include "tools/profile/flood.h"
#include "tools/profile/pair_probe.h"

#include <coll_tools.h>
#include <stdbool.h>

enum { SURVEY_PAIRS = 4, SURVEY_CROWD = 32, SURVEY_CROWDS = 6 };

typedef struct rank_pair {
    int leader, other; /* who sends first, and streams */
} rank_pair;

/* One level: who measures, and what was found; the latter is complete on rank 0. */
typedef struct survey_level {
    int pairs;
    rank_pair pair[SURVEY_PAIRS];
    probe_result probe[SURVEY_PAIRS];

    int crowd; /* pairs that can measure at once */
    rank_pair crowd_pair[SURVEY_CROWD];
    int crowds; /* measurements, with 1, 2, 4, ... of them */
    int crowd_ranks[SURVEY_CROWDS];
    double crowd_message[SURVEY_CROWDS]; /* s: the median of the pairs */
    double crowd_rate[SURVEY_CROWDS];    /* bytes/s: all pairs' streams together */

    int receiver, senders; /* of converging streams; none where there are fewer than 2 */
    int sender[CROWD_SENDERS];
    double relay;            /* s: of a message from a waiting rank on; 0: not measured */
    double gap[CROWD_SIZES]; /* s; 0: not measured */
    flood_result flood;
} survey_level;

typedef struct survey {
    MPI_Comm comm;
    int rank, ranks;
    double seconds; /* for everything */
    bool flood;     /* may */
    COLL_Place *places;
    survey_level level[COLL_LEVELS];
    bool copied;
    double copy[COLL_COPIES][COPIES_SIZES]; /* s */
} survey;

/*
 * Chooses who measures; the same on all ranks. *TOTAL is how many pairs there are at all levels.
 * S->comm, rank, ranks, seconds and flood are the caller's; survey_free afterwards.
 */
int survey_plan(survey *s, int *total);

/*
 * Takes all measurements; collective. Rank 0 shows the progress. Returns an MPI error code.
 */
int survey_run(survey *s);

void survey_free(survey *s);

/*
 * Chooses at most MOST pairs of RANKS that are apart at exactly LEVEL, no rank in two of them, so
 * that about as many streams leave each part of the machine as enter it: the links that its ranks
 * share are then busy alike, both ways. Returns how many there are, or -1 without memory.
 */
int survey_streams(const COLL_Place places[], int ranks, COLL_Level level, int most,
                   rank_pair pairs[]);

/* The level at which two ranks are apart. */
COLL_Level survey_apart(const COLL_Place *one, const COLL_Place *other);

#endif
