/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/blocks.h"

#include "lib/base/error.h"

static MPI_Count count_of(const coll_blocks *blocks, int rank) {
    const coll_blocks_layout *layout = &blocks->layout;
    return layout->counts ? layout->counts[rank] : layout->count;
}

static MPI_Count longest_count(const coll_blocks *blocks) {
    MPI_Count longest = 0;
    for (int rank = 0; rank < blocks->ranks; rank++)
        if (count_of(blocks, rank) > longest)
            longest = count_of(blocks, rank);
    return longest;
}

int coll_blocks_open(coll_blocks *blocks, const coll_blocks_layout *layout, int ranks) {
    *blocks = (coll_blocks){.layout = *layout, .ranks = ranks};
    MPI_Count lower, extent;
    int code = PMPI_Type_size_x(layout->type, &blocks->size);
    if (code == MPI_SUCCESS)
        code = PMPI_Type_get_extent_x(layout->type, &lower, &extent);
    if (code != MPI_SUCCESS)
        return code;
    blocks->extent = (MPI_Aint)extent;
    MPI_Aint end;
    if (!layout->counts && (__builtin_mul_overflow(layout->count, extent, &end) ||
                            __builtin_mul_overflow(end, ranks, &end)))
        return coll_error(MPI_ERR_COUNT,
                          "%d blocks of %lld elements are more than any memory holds", ranks,
                          (long long)layout->count);
    return coll_data_open(&blocks->longest, layout->buffer, longest_count(blocks), layout->type);
}

void coll_blocks_close(coll_blocks *blocks) {
    coll_data_close(&blocks->longest);
}

size_t coll_blocks_bytes(const coll_blocks *blocks, int rank) {
    return (size_t)(count_of(blocks, rank) * blocks->size);
}

size_t coll_blocks_longest(const coll_blocks *blocks) {
    return blocks->longest.bytes;
}

bool coll_blocks_even(const coll_blocks *blocks) {
    return !blocks->layout.counts;
}

coll_data coll_blocks_at(const coll_blocks *blocks, int rank) {
    const coll_blocks_layout *layout = &blocks->layout;
    MPI_Aint place = layout->counts ? layout->places[rank] : (MPI_Aint)layout->count * rank;
    return coll_data_shifted(&blocks->longest, place * blocks->extent, count_of(blocks, rank),
                             coll_blocks_bytes(blocks, rank));
}

bool coll_blocks_in_a_row(const coll_blocks *blocks) {
    return !blocks->layout.counts && coll_data_in_place(&blocks->longest) &&
           (MPI_Count)blocks->extent == blocks->size;
}
