/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes all measurements of a profile in this order: rates between hosts; at each level single
 * pairs one after the other, concurrent pairs, relays, converging streams and floods; then copies
 * in memory. Rank 0 directs the other ranks. Ranks that take no part in a measurement sleep.
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
    int leader, other; /* the leader has the results; concurrent leaders stream to the others */
} rank_pair;

/* One level: the ranks that measure, and their results, which only rank 0 has. */
typedef struct survey_level {
    int pairs;
    rank_pair pair[SURVEY_PAIRS];
    probe_result probe[SURVEY_PAIRS];

    int crowd; /* pairs that can measure at the same time */
    rank_pair crowd_pair[SURVEY_CROWD];
    int crowds;                     /* measurements, with 1, 2, 4, ... and all of these pairs */
    int crowd_ranks[SURVEY_CROWDS]; /* ranks of the pairs that measured together */
    double crowd_message[SURVEY_CROWDS]; /* s: half a round trip of a byte; median of the pairs */
    double crowd_rate[SURVEY_CROWDS];    /* bytes/s: the sum of all pairs */

    /* Ranks and results of relays, converging streams and floods, which need 2 senders or more. */
    int receiver, senders;
    int sender[CROWD_SENDERS];
    double relay;            /* s: what each further rank adds to a chain; 0: not measured */
    double gap[CROWD_SIZES]; /* s: between arrivals at the receiver; 0: not measured */
    flood_result flood;
} survey_level;

typedef struct survey {
    MPI_Comm comm;
    int rank, ranks;
    double seconds; /* intended for all measurements of messages */
    bool flood;     /* floods are allowed */
    COLL_Place *places;
    COLL_Rates rates;
    survey_level level[COLL_LEVELS];
    bool copied;                            /* the copies were measured; on rank 0 */
    double copy[COLL_COPIES][COPIES_SIZES]; /* s: of one copy */
} survey;

/*
 * Chooses the ranks that measure, the same on all ranks, and sets *TOTAL to the number of single
 * pairs at all levels. The caller sets S->comm, rank, ranks, seconds and flood before, and calls
 * survey_free after the last use of S. Collective. Returns an MPI error code.
 */
int survey_plan(survey *s, int *total);

/* Takes all measurements. Rank 0 prints the progress. Collective. Returns an MPI error code. */
int survey_run(survey *s);

/* Frees the memory of S. */
void survey_free(survey *s);

/*
 * Chooses at most MOST pairs of the RANKS ranks. Messages of a pair are of exactly LEVEL, and no
 * rank is in two pairs. About as many streams leave each site, rack or node as enter it, so that
 * its shared links are equally busy in both directions. Returns the number of pairs, or -1 if
 * memory is short.
 */
int survey_streams(const COLL_Place places[], int ranks, COLL_Level level, int most,
                   rank_pair pairs[]);

#endif
