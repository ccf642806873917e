/* Which ranks to measure between: pairs that are apart at one level. Pure. */
#ifndef COLL_TOOLS_PROFILE_PAIRS_H
#define COLL_TOOLS_PROFILE_PAIRS_H

#include <coll_tools.h>

typedef struct rank_pair {
    int low, high;
} rank_pair;

/* The level at which two ranks are apart. */
COLL_Level pairs_level(const COLL_Place *one, const COLL_Place *other);

/*
 * Chooses at most MOST pairs of RANKS that are apart at exactly LEVEL, no rank in two of them, from
 * different parts of the machine. Returns how many there are (0 where no ranks are so apart), or -1
 * without memory.
 */
int pairs_choose(const COLL_Place places[], int ranks, COLL_Level level, int most,
                 rank_pair pairs[]);

#endif
