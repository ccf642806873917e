#include "lib/pattern/block.h"

size_t coll_block_start(size_t m, int p, int i) {
    size_t length = m / (size_t)p, longer = m % (size_t)p, index = (size_t)i;
    return index * length + (index < longer ? index : longer);
}

size_t coll_block_length(size_t m, int p, int i) {
    return coll_block_start(m, p, i + 1) - coll_block_start(m, p, i);
}

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
