/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pattern/binomial.h"

int coll_tree_depth(int p) {
    int depth = 0;
    while (depth < 31 && (1L << depth) < p)
        depth++;
    return depth;
}

int coll_tree_binomial(int p, int position, int *parent, int children[]) {
    /* A position's lowest set bit is its distance from its parent; lower bits span its subtree. */
    int depth = coll_tree_depth(p);
    int bit = 0;
    while (bit < depth && !(position >> bit & 1))
        bit++;
    *parent = position ? position - (1 << bit) : -1;

    int count = 0;
    for (int below = bit - 1; below >= 0; below--) {
        int distance = 1 << below;
        if (distance < p - position)
            children[count++] = position + distance;
    }
    return count;
}

int coll_tree_binomial_end(int p, int position) {
    long long lowest_bit = position & -position;
    return position == 0 || position + lowest_bit > p ? p : (int)(position + lowest_bit);
}
