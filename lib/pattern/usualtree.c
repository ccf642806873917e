/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pattern/usualtree.h"

#include <stdint.h>

/* Adds CHILD if it is a position below P. */
static void add_child(int64_t child, int p, int children[], int *count) {
    if (child < p)
        children[(*count)++] = (int)child;
}

int coll_usual_flat(int p, int position, int *parent, int children[]) {
    int count = 0;
    *parent = position ? 0 : -1;
    while (position == 0 && count + 1 < p && count < COLL_USUAL_CHILDREN)
        add_child(count + 1, p, children, &count);
    return count;
}

int coll_usual_line(int p, int position, int *parent, int children[]) {
    int count = 0;
    *parent = position - 1;
    add_child(position + 1, p, children, &count);
    return count;
}

int coll_usual_binary(int p, int position, int *parent, int children[]) {
    int count = 0;
    int64_t level = 1; /* number of positions in this one's level, which begins at level - 1 */
    while (2 * level - 1 <= position)
        level *= 2;
    *parent = position ? (int)((position - level + 1) % (level / 2) + level / 2 - 1) : -1;
    add_child(position + level, p, children, &count);
    add_child(position + 2 * level, p, children, &count);
    return count;
}

int coll_usual_in_order(int p, int position, int *parent, int children[]) {
    int count = 0, root = 0, near = p - 1 - p / 2; /* near: size of the subtree at root + 1 */
    *parent = -1;
    while (position != root) {
        *parent = root;
        if (position <= root + near) {
            p = near;
            root++;
        } else {
            p /= 2;
            root += near + 1;
        }
        near = p - 1 - p / 2;
    }
    if (near > 0)
        children[count++] = root + 1;
    if (p / 2 > 0)
        children[count++] = root + near + 1;
    return count;
}

int coll_usual_binomial(int p, int position, int *parent, int children[]) {
    int count = 0;
    int64_t distance = 1;
    *parent = -1;
    for (; distance <= position; distance *= 2)
        *parent = (int)(position - distance);
    for (; position + distance < p; distance *= 2)
        add_child(position + distance, p, children, &count);
    return count;
}

int coll_usual_quadrinomial(int p, int position, int *parent, int children[]) {
    enum { RADIX = 4 };
    int count = 0;
    int64_t distance = 1;
    *parent = -1;
    for (; distance < p; distance *= RADIX)
        if (position % (RADIX * distance) != 0) {
            *parent = (int)(position / (RADIX * distance) * (RADIX * distance));
            break;
        }
    for (distance /= RADIX; distance > 0; distance /= RADIX)
        for (int times = 1; times < RADIX; times++)
            add_child(position + times * distance, p, children, &count);
    return count;
}
