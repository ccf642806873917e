/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pattern/binomial.h"

int coll_tree_depth(int p) {
    int depth = 0;
    while (depth < 31 && (1L << depth) < p)
        depth++;
    return depth;
}

int coll_tree_knomial(int p, int radix, int position, int *parent, int children[]) {
    /* A position's lowest nonzero digit is its distance from its parent; lower digits span its
     * subtree. */
    long long unit = 1;
    while (unit < p && position / unit % radix == 0)
        unit *= radix;
    *parent = position ? (int)(position - position / unit % radix * unit) : -1;

    int count = 0;
    for (unit /= radix; unit > 0; unit /= radix)
        for (int times = radix - 1; times > 0; times--)
            if (times * unit < p - position)
                children[count++] = (int)(position + times * unit);
    return count;
}

int coll_tree_binomial(int p, int position, int *parent, int children[]) {
    return coll_tree_knomial(p, 2, position, parent, children);
}

int coll_tree_binomial_end(int p, int position) {
    long long lowest_bit = position & -position;
    return position == 0 || position + lowest_bit > p ? p : (int)(position + lowest_bit);
}
