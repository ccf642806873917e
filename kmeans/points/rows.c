/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/points/rows.h"

#include <coll.h>
#include <string.h>

enum { PIECE = 1 << 18, TAG = 1 }; /* the most values in a message */

static int piece_size(uint64_t left) {
    return left < PIECE ? (int)left : PIECE;
}

static bool send_or_receive(bool send, uint32_t *values, int count, int peer, MPI_Comm comm,
                            app_problem *problem) {
    return app_mpi(
        problem, send ? MPI_Send(values, count, MPI_UINT32_T, peer, TAG, comm)
                      : MPI_Recv(values, count, MPI_UINT32_T, peer, TAG, comm, MPI_STATUS_IGNORE));
}

static bool exchange_own(bool send, uint32_t *values, size_t count, MPI_Comm comm,
                         app_problem *problem) {
    for (size_t at = 0; at < count; at += PIECE)
        if (!send_or_receive(send, values + at, piece_size(count - at), 0, comm, problem))
            return false;
    return true;
}

/*
 * Passes the values of all points, EACH numbers for every point, to HANDLE at rank 0, piece by
 * piece. If COLLECT, rank 0 receives the pieces of other ranks before it passes them, else it sends
 * them afterwards.
 */
static bool move_values(bool collect, uint32_t *values, size_t each, const km_points *points,
                        MPI_Comm comm, km_rows_piece *handle, void *context, app_problem *problem) {
    static uint32_t piece[PIECE];
    bool good = true;
    if (app_rank(comm) > 0)
        return exchange_own(collect, values, points->rows * each, comm, problem);
    const int ranks = app_ranks(comm);
    for (int peer = 0; peer < ranks; peer++) {
        uint64_t first, count;
        km_share(points->total, peer, ranks, &first, &count);
        count *= each;
        for (uint64_t at = 0; at < count; at += PIECE) {
            int here = piece_size(count - at);
            if (peer > 0 && collect && !send_or_receive(false, piece, here, peer, comm, problem))
                return false;
            good = good && handle(peer > 0 ? piece : values + at, (size_t)here, context, problem);
            if (peer > 0 && !collect && !send_or_receive(true, piece, here, peer, comm, problem))
                return false;
        }
    }
    return good;
}

bool km_rows_collect(uint32_t *values, size_t each, const km_points *points, MPI_Comm comm,
                     km_rows_piece *take, void *context, app_problem *problem) {
    return move_values(true, values, each, points, comm, take, context, problem);
}

bool km_rows_spread(uint32_t *values, const km_points *points, MPI_Comm comm, km_rows_piece *give,
                    void *context, app_problem *problem) {
    return move_values(false, values, 1, points, comm, give, context, problem);
}

typedef struct row_target {
    uint8_t *centroids;
    size_t bytes; /* bytes of a row */
} row_target;

/* Each key comes from the one rank that has the row, so there is nothing to combine. */
static void combine_nothing(void *into, const void *from, size_t bytes, void *context) {
    (void)into, (void)from, (void)bytes, (void)context;
}

static int store_row(uint64_t centroid, const void *row, void *context) {
    const row_target *to = context;
    memcpy(to->centroids + centroid * to->bytes, row, to->bytes);
    return 0;
}

static bool add_rows(const km_points *points, const km_place *places, size_t count, COLL_Pool *pool,
                     app_problem *problem) {
    for (size_t i = 0; i < count; i++) {
        uint64_t row = places[i].row - points->first;
        if (places[i].row < points->first || row >= points->rows)
            continue;
        if (!app_mpi(problem, COLL_Pool_add(pool, places[i].centroid,
                                            points->data + row * km_row_bytes(points))))
            return false;
    }
    return true;
}

bool km_place_rows(const km_points *points, const km_place *places, size_t count,
                   uint8_t *centroids, MPI_Comm comm, app_problem *problem) {
    row_target to = {centroids, km_row_bytes(points)};
    COLL_Pool *pool = NULL;
    if (app_mpi(problem, COLL_Pool_create(to.bytes, combine_nothing, NULL, &pool)))
        add_rows(points, places, count, pool, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        /* On the other ranks the pool is empty by then. */
        if (app_mpi(problem, COLL_Aggregate(pool, 0, comm, NULL)) &&
            COLL_Pool_visit(pool, store_row, &to) != 0)
            app_refuse(problem, "out of memory");
        good = app_agree(problem, comm);
    }
    COLL_Pool_free(&pool);
    return good;
}
