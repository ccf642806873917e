#include "config.h"

#include "lib/pattern/order.h"

#include <assert.h>
#include <stdlib.h>

/* The parts of a place; nearest to the top first. */
enum { SITE, RACK, NODE, NUMA, RANK, PARTS };
static_assert(sizeof((coll_visit *)0)->behind == PARTS * sizeof(int), "a distance for every part");

static int by_distance(const void *a, const void *b) {
    const coll_visit *x = a, *y = b;
    for (int part = 0; part < PARTS; part++)
        if (x->behind[part] != y->behind[part])
            return x->behind[part] < y->behind[part] ? -1 : 1;
    return 0;
}

/* How many steps NUMBER comes after FIRST, both less than COUNT, going around. */
static int steps(int first, int number, int count) {
    return number >= first ? number - first : number + (count - first);
}

void coll_order_chain(const coll_topo *topo, int root, coll_visit visits[], int order[]) {
    int most = topo->ranks; /* no level has more members than ranks */
    const coll_place *first = &topo->places[root];
    for (int rank = 0; rank < topo->ranks; rank++) {
        const coll_place *place = &topo->places[rank];
        visits[rank] = (coll_visit){
            .behind = {[SITE] = steps(first->site, place->site, most),
                       [RACK] = steps(first->rack, place->rack, most),
                       [NODE] = steps(first->node, place->node, most),
                       [NUMA] = steps(first->numa, place->numa, most),
                       [RANK] = steps(root, rank, most)},
            .rank = rank,
        };
    }
    qsort(visits, (size_t)topo->ranks, sizeof *visits, by_distance);
    for (int i = 0; i < topo->ranks; i++)
        order[i] = visits[i].rank;
}
