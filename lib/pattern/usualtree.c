#include "lib/pattern/usualtree.h"

#include <stdint.h>

/* Adds CHILD if there is such a position. */
static void add(int64_t child, int p, int children[], int *count) {
    if (child < p)
        children[(*count)++] = (int)child;
}

/* The first (p - 1) % CHAINS of them are longer by one. */
static int chains(int p, int position, int chains, int *parent, int children[]) {
    int count = 0;
    const int shortest = (p - 1) / chains, longer = (p - 1) % chains;
    for (int chain = 0, head = 1, next; chain < chains && head < p; chain++, head = next) {
        next = head + shortest + (chain < longer);
        if (position == 0)
            add(head, p, children, &count);
        if (position < head || position >= next)
            continue;
        *parent = position == head ? 0 : position - 1;
        add(position + 1, next, children, &count);
    }
    return count;
}

static int binary(int p, int position, int *parent, int children[]) {
    int count = 0;
    int64_t level = 1; /* positions of this one's level; the first one of it is level - 1 */
    while (2 * level - 1 <= position)
        level *= 2;
    if (position > 0)
        *parent = (int)((position - level + 1) % (level / 2) + level / 2 - 1);
    add(position + level, p, children, &count);
    add(position + 2 * level, p, children, &count);
    return count;
}

static int binomial(int p, int position, int *parent, int children[]) {
    int count = 0;
    int64_t distance = 1;
    for (; distance <= position; distance *= 2)
        *parent = (int)(position - distance);
    for (; position + distance < p; distance *= 2)
        add(position + distance, p, children, &count);
    return count;
}

static int quadrinomial(int p, int position, int *parent, int children[]) {
    enum { RADIX = 4 };
    int count = 0;
    int64_t distance = 1;
    for (; distance < p; distance *= RADIX)
        if (position % (RADIX * distance) != 0) {
            *parent = (int)(position / (RADIX * distance) * (RADIX * distance));
            break;
        }
    for (distance /= RADIX; distance > 0; distance /= RADIX)
        for (int times = 1; times < RADIX; times++)
            add(position + times * distance, p, children, &count);
    return count;
}

int coll_usual_tree_at(coll_usual_tree tree, int p, int position, int *parent, int children[]) {
    *parent = -1;
    switch (tree) {
    case COLL_USUAL_LINE:
        return chains(p, position, 1, parent, children);
    case COLL_USUAL_FOUR_CHAINS:
        return chains(p, position, 4, parent, children);
    case COLL_USUAL_BINARY:
        return binary(p, position, parent, children);
    case COLL_USUAL_BINOMIAL:
        return binomial(p, position, parent, children);
    default:
        return quadrinomial(p, position, parent, children);
    }
}
