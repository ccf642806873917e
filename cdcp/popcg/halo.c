/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/popcg/halo.h"

#include "app/agreement.h"

/* The directions of the sides. Sides i and HALO_SIDES - 1 - i are opposite. */
static const struct {
    int column, row;
} directions[HALO_SIDES] = {{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}};

/*
 * Returns, on an axis along which the block has LENGTH cells, the first cell of the block's edge in
 * DIRECTION or, if OUTSIDE, of the border next to this edge.
 */
static long first_edge_cell(int direction, size_t length, bool outside) {
    if (direction == 0)
        return 0;
    return direction < 0 ? -(long)outside : (long)length - 1 + (long)outside;
}

static struct halo_side make_side(const struct halo *halo, const struct layout *layout,
                                  const struct block *block, int side) {
    struct shape shape = {block->width, block->height};
    int x = directions[side].column, y = directions[side].row;
    return (struct halo_side){.rank = layout_owner(layout, block->column + x, block->row + y),
                              .send_at = field_at(shape, first_edge_cell(x, shape.width, false),
                                                  first_edge_cell(y, shape.height, false)),
                              .receive_at = field_at(shape, first_edge_cell(x, shape.width, true),
                                                     first_edge_cell(y, shape.height, true)),
                              .type = x && y ? MPI_DOUBLE
                                      : x    ? halo->column
                                             : halo->row};
}

bool halo_open(struct halo *halo, const struct layout *layout, MPI_Comm comm,
               app_problem *problem) {
    *halo = (struct halo){.comm = comm, .row = MPI_DATATYPE_NULL, .column = MPI_DATATYPE_NULL};
    for (int side = 0; side < HALO_SIDES; side++)
        halo->sides[side].rank = -1;
    struct block block = layout_block(layout, app_rank(comm));
    if (!block.width)
        return true;
    int line = (int)field_line((struct shape){block.width, block.height});
    if (!app_mpi(problem, MPI_Type_contiguous((int)block.width, MPI_DOUBLE, &halo->row)) ||
        !app_mpi(problem, MPI_Type_commit(&halo->row)) ||
        !app_mpi(problem, MPI_Type_vector((int)block.height, 1, line, MPI_DOUBLE, &halo->column)) ||
        !app_mpi(problem, MPI_Type_commit(&halo->column))) {
        halo_close(halo);
        return false;
    }
    for (int side = 0; side < HALO_SIDES; side++)
        halo->sides[side] = make_side(halo, layout, &block, side);
    return true;
}

void halo_close(struct halo *halo) {
    if (halo->row != MPI_DATATYPE_NULL)
        MPI_Type_free(&halo->row);
    if (halo->column != MPI_DATATYPE_NULL)
        MPI_Type_free(&halo->column);
}

/*
 * A message's tag is the side from which it leaves, because the same rank may be the neighbour on
 * two sides, or a rank its own neighbour.
 */
static int post_messages(const struct halo *halo, double *field, MPI_Request requests[],
                         int *posted) {
    for (int i = 0; i < 2 * HALO_SIDES; i++) { /* receives, then sends */
        const int side = i % HALO_SIDES;
        const struct halo_side *it = &halo->sides[side];
        if (it->rank < 0)
            continue;
        int code = i < HALO_SIDES ? MPI_Irecv(field + it->receive_at, 1, it->type, it->rank,
                                              HALO_SIDES - 1 - side, halo->comm, &requests[*posted])
                                  : MPI_Isend(field + it->send_at, 1, it->type, it->rank, side,
                                              halo->comm, &requests[*posted]);
        if (code != MPI_SUCCESS)
            return code;
        ++*posted;
    }
    return MPI_SUCCESS;
}

bool halo_exchange(struct halo *halo, double *field, app_problem *problem) {
    MPI_Request requests[2 * HALO_SIDES];
    int posted = 0;
    double start = MPI_Wtime();
    int code = post_messages(halo, field, requests, &posted);
    int completed = MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
    halo->seconds += MPI_Wtime() - start;
    return app_mpi(problem, code != MPI_SUCCESS ? code : completed);
}
