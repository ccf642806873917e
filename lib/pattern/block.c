/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pattern/block.h"

int coll_block_with(const uint64_t start[], int p, uint64_t i) {
    int low = 0, high = p - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (start[middle + 1] > i)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
