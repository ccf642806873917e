/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pattern/binomial.h"

int coll_tree_depth(int p) {
    int depth = 0;
    while (depth < 31 && (1L << depth) < p)
        depth++;
    return depth;
}

int coll_tree_doublings(int p) {
    int depth = coll_tree_depth(p);
    return 1L << depth > p ? depth - 1 : depth;
}

/* Returns the value of a one in the lowest digit of POSITION that is not zero, or of the first
 * digit that is zero in all positions. Lower digits number the positions of the subtree. */
static long long lowest_unit(int p, int radix, int position) {
    long long unit = 1;
    while (unit < p && position / unit % radix == 0)
        unit *= radix;
    return unit;
}

int coll_tree_knomial(int p, int radix, int position, int *parent, int children[]) {
    long long unit = lowest_unit(p, radix, position);
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

int coll_tree_knomial_end(int p, int radix, int position) {
    const long long unit = lowest_unit(p, radix, position);
    return unit < p - position ? (int)(position + unit) : p;
}

int coll_tree_binomial_end(int p, int position) {
    return coll_tree_knomial_end(p, 2, position);
}
