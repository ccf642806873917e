/*
 * native: the MPI library's own gather.
 *
 * The data goes as bytes, in place where that is possible, because MPI libraries that split blocks
 * by elements go wrong when root and others describe the same bytes by different types (as their
 * broadcasts do, Open MPI issues 1763 and 10523). Where the blocks are not one run of bytes at the
 * root, or are more than an MPI call can count, they pass in pieces through bounded memory.
 *
 * Blocks of different lengths go by MPI_Gatherv, if its ints can say what the root wants; the root
 * tells. Otherwise, by linear.
 *
 * Cost: that of a binomial tree, the common choice of MPI libraries, whose inner ranks first gather
 * their subtrees: the messages of m, 2 m, 4 m, ... bytes one after the other.
 */
#include "config.h"

#include "lib/error.h"
#include "lib/gather/gather.h"
#include "lib/pattern/tree.h"

#include <limits.h>
#include <stdlib.h>

/* What the pieces of all ranks together may take at the root. */
static const size_t staged_most = (size_t)256 << 20;

static const coll_param params[] = {{.name = NULL}};

static double predict(const coll_shape *call, const coll_profile *profile,
                      const coll_values *values) {
    (void)values;
    const coll_cost *link = coll_profile_outermost(profile, call->topo);
    double seconds = 0, bytes = (double)call->bytes;
    for (int round = 0; round < coll_tree_depth(call->topo->ranks); round++, bytes *= 2)
        seconds += coll_cost_message(link, bytes, 2);
    return seconds;
}

/* The pieces in which all ranks pass their blocks. */
static size_t piece_of(const coll_gather_call *call) {
    size_t most = staged_most / (size_t)call->comm->ranks, bytes = call->shape->bytes;
    return most < 1 ? 1 : bytes < most ? bytes : most;
}

/* The root puts a piece of every rank where it belongs. */
static void store_pieces(const coll_gather_call *call, size_t from, size_t length,
                         const char *pieces) {
    for (int rank = 0; rank < call->comm->ranks; rank++) {
        coll_data block = coll_blocks_at(call->blocks, rank);
        if (rank != call->root)
            coll_data_write(&block, from, length, pieces + (size_t)rank * length);
    }
}

static int take_even(const coll_gather_call *call) {
    MPI_Comm comm = call->comm->private;
    size_t bytes = call->shape->bytes, piece = piece_of(call);
    if (piece == bytes && coll_blocks_in_a_row(call->blocks)) {
        coll_data first = coll_blocks_at(call->blocks, 0);
        return PMPI_Gather(MPI_IN_PLACE, 0, MPI_BYTE, coll_data_target(&first, 0, NULL), (int)bytes,
                           MPI_BYTE, call->root, comm);
    }
    char *pieces = malloc(piece * (size_t)call->comm->ranks);
    if (!pieces)
        return coll_error(MPI_ERR_NO_MEM, "no memory for %d pieces of %zu bytes", call->comm->ranks,
                          piece);
    int code = MPI_SUCCESS;
    for (size_t from = 0; from < bytes && code == MPI_SUCCESS; from += piece) {
        size_t length = bytes - from < piece ? bytes - from : piece;
        code =
            PMPI_Gather(MPI_IN_PLACE, 0, MPI_BYTE, pieces, (int)length, MPI_BYTE, call->root, comm);
        if (code == MPI_SUCCESS)
            store_pieces(call, from, length, pieces);
    }
    free(pieces);
    return code;
}

static int give_even(const coll_gather_call *call) {
    const coll_data *mine = call->mine;
    size_t piece = piece_of(call);
    void *segment = coll_data_in_place(mine) ? NULL : malloc(piece);
    if (!segment && !coll_data_in_place(mine))
        return coll_error(MPI_ERR_NO_MEM, "no memory for a piece of %zu bytes", piece);
    int code = MPI_SUCCESS;
    for (size_t from = 0; from < mine->bytes && code == MPI_SUCCESS; from += piece) {
        size_t length = mine->bytes - from < piece ? mine->bytes - from : piece;
        code = PMPI_Gather(coll_data_read(mine, from, length, segment), (int)length, MPI_BYTE, NULL,
                           0, MPI_BYTE, call->root, call->comm->private);
    }
    free(segment);
    return code;
}

/* The root's blocks as MPI_Gatherv's ints; false where they can't say it. */
static bool as_ints(const coll_gather_call *call, int counts[], int places[]) {
    const coll_blocks *blocks = call->blocks;
    if (!coll_data_in_place(&blocks->longest))
        return false;
    const char *start = coll_data_target(&blocks->longest, 0, NULL);
    for (int rank = 0; rank < call->comm->ranks; rank++) {
        coll_data block = coll_blocks_at(blocks, rank);
        ptrdiff_t place = (char *)coll_data_target(&block, 0, NULL) - start;
        if (block.bytes > INT_MAX || place > INT_MAX || place < INT_MIN)
            return false;
        counts[rank] = (int)block.bytes;
        places[rank] = block.bytes ? (int)place : 0;
    }
    return true;
}

static int take_uneven(const coll_gather_call *call) {
    MPI_Comm comm = call->comm->private;
    int ranks = call->comm->ranks, *counts = malloc(2 * (size_t)ranks * sizeof *counts);
    int fits = counts && as_ints(call, counts, counts + ranks);
    int code = PMPI_Bcast(&fits, 1, MPI_INT, call->root, comm);
    if (code == MPI_SUCCESS && fits)
        code = PMPI_Gatherv(MPI_IN_PLACE, 0, MPI_BYTE,
                            coll_data_target(&call->blocks->longest, 0, NULL), counts,
                            counts + ranks, MPI_BYTE, call->root, comm);
    else if (code == MPI_SUCCESS)
        code = coll_gather_linear.run(call, NULL);
    free(counts);
    return code;
}

static int give_uneven(const coll_gather_call *call) {
    MPI_Comm comm = call->comm->private;
    const coll_data *mine = call->mine;
    int fits, code = PMPI_Bcast(&fits, 1, MPI_INT, call->root, comm);
    if (code != MPI_SUCCESS)
        return code;
    if (!fits)
        return coll_gather_linear.run(call, NULL);
    if (coll_data_in_place(mine))
        return PMPI_Gatherv(coll_data_target(mine, 0, NULL), (int)mine->bytes, MPI_BYTE, NULL, NULL,
                            NULL, MPI_BYTE, call->root, comm);
    return PMPI_Gatherv(mine->buffer, (int)mine->count, call->type, NULL, NULL, NULL, MPI_BYTE,
                        call->root, comm);
}

static int run(const coll_gather_call *call, const coll_values *values) {
    (void)values;
    bool is_root = call->comm->rank == call->root;
    if (coll_gather_is_even(call->shape))
        return is_root ? take_even(call) : give_even(call);
    return is_root ? take_uneven(call) : give_uneven(call);
}

const coll_gather_algorithm coll_gather_native = {
    .base = {.name = "native",
             .summary = "the MPI library's own gather",
             .params = params,
             .predict = predict},
    .run = run,
};
