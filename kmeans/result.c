#include "config.h"

#include "kmeans/result.h"

#include "kmeans/npy.h"
#include "kmeans/result_file.h"

#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 1 << 18, TAG = 1 }; /* points in a message */

static bool write_centroids(result_file *output, const km_result *result, size_t k,
                            const km_points *points, struct problem *problem) {
    char header[NPY_HEADER_SIZE];
    npy_format_header(points->real.used ? NPY_FLOAT32 : NPY_UINT8, 2, k, points->dim, header);
    return result_file_write(output, header, sizeof header, problem) &&
           result_file_write(output, result->centroids, k * km_row_bytes(points), problem);
}

static int piece_of(uint64_t left) {
    return left < PIECE ? (int)left : PIECE;
}

static bool send_clusters(const km_result *result, const km_points *points, MPI_Comm comm,
                          struct problem *problem) {
    for (size_t at = 0; at < points->rows; at += PIECE)
        if (!km_mpi(problem, MPI_Send(result->nearest + at, piece_of(points->rows - at),
                                      MPI_UINT32_T, 0, TAG, comm)))
            return false;
    return true;
}

/*
 * Writes the parts of all ranks in order. After a failure the rest is still received, so that
 * nobody waits for ever to get rid of it. Clusters fit int32, whose bits are those of uint32 then.
 */
static bool write_clusters(result_file *output, const km_result *result, const km_points *points,
                           MPI_Comm comm, struct problem *problem) {
    int ranks;
    char header[NPY_HEADER_SIZE];
    static uint32_t piece[PIECE];
    MPI_Comm_size(comm, &ranks);
    npy_format_header(NPY_INT32, 1, points->total, 1, header);
    bool good =
        result_file_write(output, header, sizeof header, problem) &&
        result_file_write(output, result->nearest, points->rows * sizeof *result->nearest, problem);
    for (int rank = 1; rank < ranks; rank++) {
        uint64_t first, left;
        km_share(points->total, rank, ranks, &first, &left);
        while (left > 0) {
            int count = piece_of(left);
            if (!km_mpi(problem,
                        MPI_Recv(piece, count, MPI_UINT32_T, rank, TAG, comm, MPI_STATUS_IGNORE)))
                return false;
            good = good && result_file_write(output, piece, (size_t)count * sizeof *piece, problem);
            left -= (uint64_t)count;
        }
    }
    return good;
}

/* Both files get their names, or neither. */
static bool keep_both(result_file *centroids, result_file *clusters, struct problem *problem) {
    if (!result_file_finish(centroids, problem) || !result_file_finish(clusters, problem) ||
        !result_file_keep(centroids, problem))
        return false;
    if (result_file_keep(clusters, problem))
        return true;
    unlink(centroids->path);
    return false;
}

bool km_write_result(const km_result *result, const km_points *points, size_t k,
                     const char *centroids_path, const char *assign_path, MPI_Comm comm,
                     struct problem *problem) {
    int rank;
    result_file centroids = {.file = -1}, clusters = {.file = -1};
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && result_file_open(&centroids, centroids_path, problem) &&
        result_file_open(&clusters, assign_path, problem))
        write_centroids(&centroids, result, k, points, problem);
    bool good = km_agree(problem, comm);
    if (good && rank > 0)
        send_clusters(result, points, comm, problem);
    else if (good && write_clusters(&clusters, result, points, comm, problem))
        keep_both(&centroids, &clusters, problem);
    good = good && km_agree(problem, comm);
    result_file_discard(&clusters);
    result_file_discard(&centroids);
    return good;
}
