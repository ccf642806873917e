#include "config.h"

#include "tools/profile/pairs.h"

#include <stdbool.h>
#include <stdlib.h>

COLL_Level pairs_level(const COLL_Place *one, const COLL_Place *other) {
    if (one->site != other->site)
        return COLL_LEVEL_WIDE;
    if (one->rack != other->rack)
        return COLL_LEVEL_SITE;
    if (one->node != other->node)
        return COLL_LEVEL_RACK;
    return one->numa == other->numa ? COLL_LEVEL_NUMA : COLL_LEVEL_NODE;
}

/* The first pair of free ranks, looking from rank FIRST on and STRIDE ranks ahead of each. */
static bool find_pair(const COLL_Place places[], int ranks, COLL_Level level, int first, int stride,
                      const bool taken[], rank_pair *pair) {
    for (int i = 0; i < ranks; i++) {
        int one = (first + i) % ranks;
        for (int j = 0; j < ranks && !taken[one]; j++) {
            int other = (one + stride + j) % ranks;
            if (other == one || taken[other] || pairs_level(&places[one], &places[other]) != level)
                continue;
            *pair = one < other ? (rank_pair){one, other} : (rank_pair){other, one};
            return true;
        }
    }
    return false;
}

int pairs_choose(const COLL_Place places[], int ranks, COLL_Level level, int most,
                 rank_pair pairs[]) {
    bool *taken = calloc((size_t)ranks, sizeof *taken);
    if (!taken)
        return -1;
    int count = 0;
    for (; count < most; count++) {
        int first = (int)((long long)count * ranks / most);
        if (!find_pair(places, ranks, level, first, 1 + count, taken, &pairs[count]))
            break;
        taken[pairs[count].low] = taken[pairs[count].high] = true;
    }
    free(taken);
    return count;
}
