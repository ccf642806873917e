/*
 * How good the kinds of trees are over many random networks, beside the best tree there is. Pure.
 *
 * Sites are at random places of a square. A link's latency is the distance, up to 100 ms from
 * corner to corner, times a random factor from 1 to 3, as the ways of the Internet are no straight
 * lines: so often a detour over other sites is shorter. Numbers come from a generator of our own:
 * one seed, one result on every machine.
 */
#ifndef COLL_HLOT_STUDY_H
#define COLL_HLOT_STUDY_H

#include "hlot/tree.h"

#include <stdint.h>

/* Up to so many sites all trees are tried: 262,144 for each network of 8. */
enum { HLOT_EXHAUSTED = 8 };

typedef struct hlot_study {
    int sites, networks;
    uint32_t seed;
    double gap, segments; /* of all networks; s */
} hlot_study;

/* Times as quotients of the best tree's (beyond HLOT_EXHAUSTED sites the best one's of all kinds).
 */
typedef struct hlot_quality {
    double median, worst;
    int best; /* in so many networks no tree is faster */
} hlot_quality;

/* Makes NETWORK the next one of a sequence that STATE, a seed at first, goes through. */
void hlot_study_network(const hlot_study *study, uint32_t *state, hlot_network *network);

/* The time of the fastest tree from site 0, by trying all. */
double hlot_study_optimum(const hlot_network *network);

/* One of each kind. False: there is no memory. */
bool hlot_study_run(const hlot_study *study, hlot_quality qualities[HLOT_KINDS]);

#endif
