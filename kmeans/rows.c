#include "config.h"

#include "kmeans/rows.h"

enum { PIECE = 1 << 18, TAG = 1 }; /* points in a message */

static int piece_of(uint64_t left) {
    return left < PIECE ? (int)left : PIECE;
}

/* Rank 0's own values, which need no message. */
static bool handle_own(uint32_t *values, size_t rows, km_rows_piece *handle, void *context,
                       struct problem *problem) {
    for (size_t at = 0; at < rows; at += PIECE)
        if (!handle(values + at, (size_t)piece_of(rows - at), context, problem))
            return false;
    return true;
}

static bool send_pieces(const uint32_t *values, size_t rows, MPI_Comm comm,
                        struct problem *problem) {
    for (size_t at = 0; at < rows; at += PIECE)
        if (!km_mpi(problem,
                    MPI_Send(values + at, piece_of(rows - at), MPI_UINT32_T, 0, TAG, comm)))
            return false;
    return true;
}

static bool receive_pieces(uint32_t *values, size_t rows, MPI_Comm comm, struct problem *problem) {
    for (size_t at = 0; at < rows; at += PIECE)
        if (!km_mpi(problem, MPI_Recv(values + at, piece_of(rows - at), MPI_UINT32_T, 0, TAG, comm,
                                      MPI_STATUS_IGNORE)))
            return false;
    return true;
}

bool km_rows_collect(uint32_t *values, const km_points *points, MPI_Comm comm, km_rows_piece *take,
                     void *context, struct problem *problem) {
    static uint32_t piece[PIECE];
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (rank > 0)
        return send_pieces(values, points->rows, comm, problem);
    bool good = handle_own(values, points->rows, take, context, problem);
    for (int source = 1; source < ranks; source++) {
        uint64_t first, left;
        km_share(points->total, source, ranks, &first, &left);
        for (; left > 0; left -= (uint64_t)piece_of(left)) {
            int count = piece_of(left);
            if (!km_mpi(problem,
                        MPI_Recv(piece, count, MPI_UINT32_T, source, TAG, comm, MPI_STATUS_IGNORE)))
                return false;
            good = good && take(piece, (size_t)count, context, problem);
        }
    }
    return good;
}

bool km_rows_spread(uint32_t *values, const km_points *points, MPI_Comm comm, km_rows_piece *give,
                    void *context, struct problem *problem) {
    static uint32_t piece[PIECE];
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (rank > 0)
        return receive_pieces(values, points->rows, comm, problem);
    bool good = handle_own(values, points->rows, give, context, problem);
    for (int target = 1; target < ranks; target++) {
        uint64_t first, left;
        km_share(points->total, target, ranks, &first, &left);
        for (; left > 0; left -= (uint64_t)piece_of(left)) {
            int count = piece_of(left);
            good = good && give(piece, (size_t)count, context, problem);
            if (!km_mpi(problem, MPI_Send(piece, count, MPI_UINT32_T, target, TAG, comm)))
                return false;
        }
    }
    return good;
}
