#include "lib/pattern/usualtree.h"

#include <stdint.h>

/* Adds CHILD if there is such a position. */
static void add(int64_t child, int p, int children[], int *count) {
    if (child < p)
        children[(*count)++] = (int)child;
}

int coll_usual_line(int p, int position, int *parent, int children[]) {
    int count = 0;
    *parent = position - 1;
    add(position + 1, p, children, &count);
    return count;
}

int coll_usual_binary(int p, int position, int *parent, int children[]) {
    int count = 0;
    int64_t level = 1; /* positions of this one's level; the first one of it is level - 1 */
    while (2 * level - 1 <= position)
        level *= 2;
    *parent = position ? (int)((position - level + 1) % (level / 2) + level / 2 - 1) : -1;
    add(position + level, p, children, &count);
    add(position + 2 * level, p, children, &count);
    return count;
}

int coll_usual_binomial(int p, int position, int *parent, int children[]) {
    int count = 0;
    int64_t distance = 1;
    *parent = -1;
    for (; distance <= position; distance *= 2)
        *parent = (int)(position - distance);
    for (; position + distance < p; distance *= 2)
        add(position + distance, p, children, &count);
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
            add(position + times * distance, p, children, &count);
    return count;
}
