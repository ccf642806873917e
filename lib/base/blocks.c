/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/blocks.h"

#include "lib/base/error.h"
#include "lib/base/reserve_alloc.h"

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

/* Describes blocks that each have their own datatype. */
static int open_each(coll_blocks *blocks) {
    const coll_blocks_layout *layout = &blocks->layout;
    int code = MPI_SUCCESS;
    blocks->each = coll_reserve_calloc((size_t)blocks->ranks + 1, sizeof *blocks->each);
    if (!blocks->each)
        return coll_error(MPI_ERR_NO_MEM, "no memory for %d blocks", blocks->ranks);
    for (int rank = 0; rank < blocks->ranks && code == MPI_SUCCESS; rank++)
        if (layout->counts[rank] > 0)
            code = coll_data_open(&blocks->each[rank],
                                  (char *)((intptr_t)layout->buffer + layout->places[rank]),
                                  layout->counts[rank], layout->types[rank]);
    if (code != MPI_SUCCESS)
        coll_blocks_close(blocks);
    return code;
}

int coll_blocks_open(coll_blocks *blocks, const coll_blocks_layout *layout, int ranks) {
    *blocks = (coll_blocks){.layout = *layout, .ranks = ranks};
    if (layout->types)
        return open_each(blocks);
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
    for (int rank = 0; blocks->each && rank < blocks->ranks; rank++)
        coll_data_close(&blocks->each[rank]);
    coll_reserve_free(blocks->each);
    coll_data_close(&blocks->longest);
}

static void move_data(coll_data *data, MPI_Aint offset) {
    *data = coll_data_shifted(data, offset, data->count, data->bytes);
}

void coll_blocks_move(coll_blocks *blocks, MPI_Aint offset) {
    blocks->layout.buffer = (char *)((intptr_t)blocks->layout.buffer + offset);
    for (int rank = 0; blocks->each && rank < blocks->ranks; rank++)
        move_data(&blocks->each[rank], offset);
    move_data(&blocks->longest, offset);
}

size_t coll_blocks_bytes(const coll_blocks *blocks, int rank) {
    const size_t bytes =
        blocks->each ? blocks->each[rank].bytes : (size_t)(count_of(blocks, rank) * blocks->size);
    return bytes < blocks->empty_below ? 0 : bytes;
}

size_t coll_blocks_longest(const coll_blocks *blocks) {
    size_t longest = blocks->longest.bytes;
    for (int rank = 0; blocks->each && rank < blocks->ranks; rank++)
        if (blocks->each[rank].bytes > longest)
            longest = blocks->each[rank].bytes;
    return longest;
}

size_t coll_blocks_sum(const coll_blocks *blocks) {
    size_t sum = 0;
    if (coll_blocks_even(blocks))
        return (size_t)blocks->ranks * coll_blocks_bytes(blocks, 0);
    for (int rank = 0; rank < blocks->ranks; rank++)
        sum += coll_blocks_bytes(blocks, rank);
    return sum;
}

coll_data coll_blocks_at(const coll_blocks *blocks, int rank) {
    const coll_blocks_layout *layout = &blocks->layout;
    if (blocks->each)
        return blocks->each[rank];
    MPI_Aint place = layout->counts ? layout->places[rank] : (MPI_Aint)layout->count * rank;
    return coll_data_shifted(&blocks->longest, place * blocks->extent, count_of(blocks, rank),
                             coll_blocks_bytes(blocks, rank));
}

bool coll_blocks_in_a_row(const coll_blocks *blocks) {
    return coll_blocks_even(blocks) && coll_data_in_place(&blocks->longest) &&
           (MPI_Count)blocks->extent == blocks->size;
}
