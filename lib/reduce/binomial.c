/*
 * binomial: sums go up a binomial tree; for small data.
 *
 * 1. Ranks are positions in chain order from the root, so that a subtree is a run of neighbours.
 *    Where an MPI_Op does not commute they stand in the order of their numbers, and each side of
 *    the root is a tree.
 * 2. A rank adds its children's sums to its own data, the smallest subtree first, and sends the
 *    result to its parent; long data in segments.
 *
 * Steps: ceil(log2 p). Bytes: m from every rank, ceil(log2 p) m to the root, and over an uplink at
 * most ceil(log2 p) m in each direction. Memory: ceil(log2 p) segments for each of the window.
 * Source: Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in
 * MPICH, IJHPCA 2005.
 */
#include "config.h"

#include "lib/pattern/binomial.h"
#include "lib/reduce/reduce.h"
#include "lib/reduce/tree.h"

static int nearest_first(int p, int position, int *parent, int children[]) {
    int count = coll_tree_binomial(p, position, parent, children);
    for (int i = 0, j = count - 1; i < j; i++, j--) {
        int nearer = children[j];
        children[j] = children[i];
        children[i] = nearer;
    }
    return count;
}

static coll_plan_size plan_size(const coll_part *part) {
    const coll_shape *shape = part->shape;
    size_t segment = coll_segment_of(shape, part->values->at[COLL_SEGMENT]);
    return coll_reduce_tree_size(part, coll_least(segment, shape->bytes),
                                 part->values->at[COLL_WINDOW],
                                 coll_tree_depth(shape->topo->ranks));
}

static coll_plan *make_plan(const coll_part *part, coll_plan_size size, void *memory) {
    return coll_reduce_tree_plan(part, size, memory, nearest_first);
}

const coll_algorithm coll_reduce_binomial = {
    .name = "binomial",
    .summary = "sums go up a binomial tree in rack order",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES, 32 << 10),
               COLL_PARAM_WINDOW("segments under way at a time", 4)},
    .reproducible = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
