/*
 * Recursive multiplying: how P positions exchange what they have so that each ends with all of it,
 * in about log_radix(P) stages. Pure arithmetic, no communication.
 *
 * The positions are cut into RADIX nearly equal runs, each of these again, until they are single.
 * From the innermost cut outwards, every position gets from one position of each other run of its
 * cut what that run has together. Runs differ by as little as they can, so that any P goes without
 * a round more; the first position of a run may then serve two of a longer one. Where it costs no
 * round either, cuts lie at multiples of a power of two: a run of values is then few nodes of a
 * binary tree (cdcp/forest.h). What a position holds is always a run of consecutive positions. With
 * radix 2 and a power of two this is recursive doubling. Source: Thakur, Rabenseifner, Gropp
 * (IJHPCA 2005) for doubling; the higher radix trades more messages at once, an overhead each, for
 * fewer latencies.
 */
#ifndef COLL_LIB_PATTERN_MULTIPLY_H
#define COLL_LIB_PATTERN_MULTIPLY_H

enum { COLL_MULTIPLY_RADIX = 16, COLL_MULTIPLY_STAGES = 31 };

/* One stage of one position: first it sends to all of TO, then it receives from all of FROM. */
typedef struct coll_multiply_stage {
    int depth; /* of the cut, 0 for the outermost: sender and receiver know a stage by it */
    int sends, receives;
    int to[2 * COLL_MULTIPLY_RADIX], from[COLL_MULTIPLY_RADIX];
} coll_multiply_stage;

/*
 * Writes the stages of POSITION among P >= 1, in their order, and returns how many there are. RADIX
 * from 2 to COLL_MULTIPLY_RADIX.
 */
int coll_multiply_stages(int p, int radix, int position,
                         coll_multiply_stage stages[COLL_MULTIPLY_STAGES]);

#endif
