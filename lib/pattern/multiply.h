/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive multiplying: P positions exchange their contributions so that each ends with all
 * contributions, in about log_RADIX(P) stages. Pure arithmetic, no communication.
 *
 * The positions are cut into up to RADIX nearly equal runs, and each of these again, until each run
 * is a single position. From the innermost cut outwards, every position receives the contributions
 * of each other run of its cut from one position of that run. Run lengths differ by as little as
 * possible, so that any P works without an extra stage; a position of a shorter run may then send
 * to two positions of a longer run. If it costs no extra stage, cuts are at multiples of a power of
 * two, so that a run of contributions consists of few nodes of a binary tree
 * (cdcp/reduction_tree.h). A position always holds a run of consecutive contributions. With radix
 * 2, if P is a power of two, this is recursive doubling; a higher radix takes fewer stages, but
 * more messages at the same time, each with its overhead.
 *
 * Source: Thakur, Rabenseifner, Gropp (IJHPCA 2005) for doubling.
 */
#ifndef COLL_LIB_PATTERN_MULTIPLY_H
#define COLL_LIB_PATTERN_MULTIPLY_H

enum { COLL_MULTIPLY_RADIX = 16, COLL_MULTIPLY_STAGES = 31 };

/* One stage of one position, which first sends to all of TO, then receives from all of FROM. */
typedef struct coll_multiply_stage {
    /* depth of the cut, 0 for the outermost; sender and receiver identify a stage by this depth */
    int depth;
    int sends, receives;
    int to[2 * COLL_MULTIPLY_RADIX], from[COLL_MULTIPLY_RADIX];
} coll_multiply_stage;

/*
 * Writes the stages of POSITION among P >= 1 positions, in order, and returns their number. RADIX
 * is from 2 to COLL_MULTIPLY_RADIX.
 */
int coll_multiply_stages(int p, int radix, int position,
                         coll_multiply_stage stages[COLL_MULTIPLY_STAGES]);

#endif
