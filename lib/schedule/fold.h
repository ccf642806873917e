/*
 * Ranks that do the same at the same time, folded into one. Where all sites are alike (all racks,
 * where there is one site; all hosts, where there is one rack), and a plan looks the same from each
 * of them, the first one is played alone: what its ranks send to the others, their like send to
 * them at the same moment. So the price of 65,536 ranks is that of 1,024, and just as exact.
 *
 * Positions are those of the line, P in all; a copy is N of them in a row. From copy k on a plan
 * looks the same if every peer is k N positions further on, around the line (a ring, an exchange by
 * distance), or differs in the bits of k N (recursive doubling).
 */
#ifndef COLL_LIB_SCHEDULE_FOLD_H
#define COLL_LIB_SCHEDULE_FOLD_H

#include "lib/schedule/plan.h"

typedef struct coll_fold {
    int ranks;     /* of a copy: those that are played; all: nothing is folded */
    bool mirrored; /* peers differ in bits */
} coll_fold;

/* Who plays the rank at POSITION. */
static inline int coll_fold_player(const coll_fold *fold, int position) {
    return position % fold->ranks;
}

/* Of ALL positions the one that sends to the player who plays TO what the player FROM sends there.
 */
static inline int coll_fold_seen(const coll_fold *fold, int all, int from, int to) {
    int copy = to / fold->ranks, copies = all / fold->ranks,
        back = fold->mirrored ? copy : (copies - copy) % copies;
    return back * fold->ranks + from;
}

/* The bytes of memory that coll_fold_find needs; aligned for any type. */
size_t coll_fold_bytes(const coll_part *part, const coll_planner *planner);

/*
 * The fold of the plans that PLANNER makes of PART, whose line is written to. That places are alike
 * is looked at of all ranks; that plans are, of some ranks and rounds.
 */
coll_fold coll_fold_find(coll_part *part, const coll_planner *planner, coll_line *line,
                         void *memory);

#endif
