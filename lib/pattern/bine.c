/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pattern/bine.h"

/* Places are counted from the cut of the ring. */
int coll_tree_bine(int p, int position, int *parent, int children[]) {
    int root = p / 3, mine = (int)(((long long)position + root) % p), count = 0;
    int first = 0, end = p, holder = root;
    *parent = -1;
    while (end - first > 1) {
        int middle = first + (end - first) / 2, image = middle - holder + middle - 1;
        /* If the halves differ in size, the image may be one place outside. */
        int partner = image < first ? first : image < end ? image : end - 1;
        if (mine == holder)
            children[count++] = (partner + (p - root)) % p;
        if (mine == partner)
            *parent = (holder + (p - root)) % p;
        if ((mine < middle) != (holder < middle))
            holder = partner;
        if (mine < middle)
            end = middle;
        else
            first = middle;
    }
    return count;
}
