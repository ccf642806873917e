#include "config.h"

#include "kmeans/points/rows.h"

enum { PIECE = 1 << 18, TAG = 1 }; /* points in a message */

static int piece_of(uint64_t left) {
    return left < PIECE ? (int)left : PIECE;
}

static bool pass(bool send, uint32_t *values, int count, int peer, MPI_Comm comm,
                 app_problem *problem) {
    return app_mpi(
        problem, send ? MPI_Send(values, count, MPI_UINT32_T, peer, TAG, comm)
                      : MPI_Recv(values, count, MPI_UINT32_T, peer, TAG, comm, MPI_STATUS_IGNORE));
}

static bool pass_own(bool send, uint32_t *values, size_t rows, MPI_Comm comm,
                     app_problem *problem) {
    for (size_t at = 0; at < rows; at += PIECE)
        if (!pass(send, values + at, piece_of(rows - at), 0, comm, problem))
            return false;
    return true;
}

/* The values of all points pass by HANDLE, at rank 0, after they came there or before they go. */
static bool move(bool collect, uint32_t *values, const km_points *points, MPI_Comm comm,
                 km_rows_piece *handle, void *context, app_problem *problem) {
    static uint32_t piece[PIECE];
    bool good = true;
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (rank > 0)
        return pass_own(collect, values, points->rows, comm, problem);
    for (int peer = 0; peer < ranks; peer++) {
        uint64_t first, count;
        km_share(points->total, peer, ranks, &first, &count);
        for (uint64_t at = 0; at < count; at += PIECE) {
            int here = piece_of(count - at);
            if (peer > 0 && collect && !pass(false, piece, here, peer, comm, problem))
                return false;
            good = good && handle(peer > 0 ? piece : values + at, (size_t)here, context, problem);
            if (peer > 0 && !collect && !pass(true, piece, here, peer, comm, problem))
                return false;
        }
    }
    return good;
}

bool km_rows_collect(uint32_t *values, const km_points *points, MPI_Comm comm, km_rows_piece *take,
                     void *context, app_problem *problem) {
    return move(true, values, points, comm, take, context, problem);
}

bool km_rows_spread(uint32_t *values, const km_points *points, MPI_Comm comm, km_rows_piece *give,
                    void *context, app_problem *problem) {
    return move(false, values, points, comm, give, context, problem);
}
