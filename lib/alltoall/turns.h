/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules of an exchange of every rank with every other one, in which about the same share of
 * each rack's messages crosses its uplink in every turn, in either direction.
 *
 * - Racks of equal size: a rank has a place in its rack, counted from 0. In turn (s, e) the rank at
 *   place j sends to place j + s (modulo the size of a rack) of the rack that is e + j racks
 *   further on. So the ranks of a rack send to different racks.
 * - Racks of any size: there is one slot per rank, and the ranks of each rack are spread evenly
 *   over all slots. In turn t the rank in slot u sends to the position u + t of the line (modulo
 *   the ranks). Racks are contiguous in the line, so the share of a rack's messages that stays
 *   inside is proportional to the size of the rack.
 *
 * Source: schedules by distance as in Faraj, Yuan: Message scheduling for all-to-all personalized
 * communication on Ethernet switched clusters; for racks of different sizes they are ours.
 */
#ifndef COLL_LIB_ALLTOALL_TURNS_H
#define COLL_LIB_ALLTOALL_TURNS_H

#include "lib/plan/plan.h"

/* A turn of this rank: the positions that it sends to and receives from, or COLL_NOBODY. */
enum { COLL_NOBODY = -1 };
typedef struct coll_turn {
    int number; /* the same for both ranks of a message */
    int to, from;
} coll_turn;

/* Element I of the scratch memory for listing turns: about position I and about slot I. */
typedef struct coll_seat {
    int wanted; /* the slot that position I prefers, so that its rack is spread evenly */
    int before; /* number of positions that prefer a slot before slot I */
    int sender; /* the position that has slot I */
} coll_seat;

/* Returns turn NTH of the rank at position OWN. There are RACKS racks of equal size; turn NTH is
 * (NTH / RACKS, NTH % RACKS) in the notation above. */
coll_turn coll_turn_of_even_racks(int ranks, int racks, int own, uint64_t nth);

/* Finds this rank's turns, in order, without the turn with itself; racks may have any size. Returns
 * the number of turns. SEATS has an element for each rank. */
int coll_turns_find(const coll_plan_args *args, coll_seat seats[], coll_turn turns[]);

#endif
