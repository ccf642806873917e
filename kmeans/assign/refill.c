#include "config.h"

#include "kmeans/assign/refill.h"

#include "kmeans/points/rows.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

/* A point that an empty cluster may take; with a distance of 0 it stands for none. */
typedef struct candidate {
    uint64_t distance2;
    uint64_t row;
} candidate;

static const candidate none = {0, UINT64_MAX};

/* Whether A is taken before B. */
static bool precedes(candidate a, candidate b) {
    return a.distance2 != b.distance2 ? a.distance2 > b.distance2 : a.row < b.row;
}

static int compare(const void *a, const void *b) {
    const candidate *left = a, *right = b;
    return precedes(*right, *left) - precedes(*left, *right);
}

/* Lets the root of a heap, whose root is the last to be taken, sink to its place. */
static void sink(candidate *heap, size_t count) {
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            return;
        if (child + 1 < count && precedes(heap[child], heap[child + 1]))
            child++;
        if (precedes(heap[child], heap[at]))
            return;
        candidate moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

/* Fills BEST, in order, with the first COUNT candidates among this rank's points. */
static void find_candidates(const km_points *points, const uint32_t *nearest,
                            const uint32_t *distance2, const uint8_t *may_give, candidate *best,
                            size_t count) {
    for (size_t i = 0; i < count; i++)
        best[i] = none;
    for (size_t i = 0; i < points->rows; i++) {
        candidate point = {distance2[i], points->first + i};
        if (!point.distance2 || !precedes(point, best[0]) || !may_give[nearest[i]])
            continue;
        best[0] = point;
        sink(best, count);
    }
    qsort(best, count, sizeof *best, compare);
}

/* MPI_User_function on ordered lists: INTO becomes the first of both, as many as it has. */
static void merge(void *from_list, void *into_list, int *lists, MPI_Datatype *type) {
    int bytes = 0;
    MPI_Type_size(*type, &bytes);
    size_t count = (size_t)bytes / sizeof(candidate);
    for (int list = 0; list < *lists; list++) {
        const candidate *from = (const candidate *)from_list + (size_t)list * count;
        candidate *into = (candidate *)into_list + (size_t)list * count;
        size_t of_from = 0, of_into = 0;
        while (of_from + of_into < count)
            if (precedes(from[of_from], into[of_into]))
                of_from++;
            else
                of_into++;
        /* From the back, so that nothing is overwritten before it has moved. */
        for (size_t at = count; of_from > 0; at--)
            if (of_into > 0 && precedes(from[of_from - 1], into[of_into - 1]))
                into[at - 1] = into[--of_into];
            else
                into[at - 1] = from[--of_from];
    }
}

/* Leaves the first COUNT candidates of all ranks at rank 0. */
static bool reduce_candidates(candidate *best, size_t count, MPI_Comm comm, app_problem *problem) {
    MPI_Datatype list;
    MPI_Op op;
    if (!app_mpi(problem, MPI_Type_contiguous((int)(count * sizeof *best), MPI_BYTE, &list)))
        return false;
    bool good =
        app_mpi(problem, MPI_Type_commit(&list)) && app_mpi(problem, MPI_Op_create(merge, 1, &op));
    if (good) {
        good = app_mpi(problem, MPI_Reduce(app_rank(comm) == 0 ? MPI_IN_PLACE : best, best, 1, list,
                                           op, 0, comm));
        MPI_Op_free(&op);
    }
    MPI_Type_free(&list);
    return good;
}

/* Rank 0 counts the empty clusters, for all; agrees. */
static bool count_empty(const uint64_t *counts, size_t k, MPI_Comm comm, uint64_t *empty,
                        app_problem *problem) {
    int rank = app_rank(comm);
    *empty = 0;
    for (size_t j = 0; rank == 0 && !problem->text[0] && j < k; j++)
        *empty += counts[j] == 0;
    if (!app_agree_sum(problem, empty, 1, comm))
        return false;
    return *empty <= INT_MAX / sizeof(candidate) ||
           app_refuse(problem, "%" PRIu64 " empty clusters are too many to refill", *empty);
}

/* Rank 0 pairs the candidates with the empty clusters, in order; returns how many there were. */
static uint64_t pair(const candidate *best, size_t count, const uint64_t *counts,
                     km_place *places) {
    uint64_t cluster = 0, pairs = 0;
    for (; pairs < count && best[pairs].distance2; pairs++) {
        while (counts[cluster])
            cluster++;
        places[pairs] = (km_place){best[pairs].row, cluster++};
    }
    return pairs;
}

/* Moves EMPTY clusters, above 0, onto points. */
static bool refill(const km_points *points, const uint32_t *nearest, const uint32_t *distance2,
                   const uint64_t *counts, size_t k, uint64_t empty, uint8_t *centroids,
                   MPI_Comm comm, uint64_t *refilled, app_problem *problem) {
    int rank = app_rank(comm);
    bool good = false;
    candidate *best = malloc(empty * sizeof *best);
    km_place *places = malloc(empty * sizeof *places);
    uint8_t *may_give = calloc(k, 1);
    if (!best || !places || !may_give)
        app_refuse(problem, "out of memory");
    if (!app_agree(problem, comm))
        goto free_all;
    for (size_t j = 0; rank == 0 && j < k; j++)
        may_give[j] = counts[j] > 1;
    app_mpi(problem, MPI_Bcast(may_give, (int)k, MPI_UINT8_T, 0, comm));
    find_candidates(points, nearest, distance2, may_give, best, empty);
    reduce_candidates(best, empty, comm, problem);
    if (!app_agree(problem, comm))
        goto free_all;
    if (rank == 0)
        *refilled = pair(best, empty, counts, places);
    if (app_mpi(problem, MPI_Bcast(refilled, 1, MPI_UINT64_T, 0, comm)))
        app_mpi(problem, MPI_Bcast(places, (int)(2 * *refilled), MPI_UINT64_T, 0, comm));
    good = app_agree(problem, comm) &&
           km_place_rows(points, places, *refilled, centroids, comm, problem);
free_all:
    free(may_give);
    free(places);
    free(best);
    return good;
}

bool km_refill(const km_points *points, const uint32_t *nearest, const uint32_t *distance2,
               const uint64_t *counts, size_t k, uint8_t *centroids, MPI_Comm comm,
               uint64_t *refilled, app_problem *problem) {
    uint64_t empty;
    *refilled = 0;
    if (!count_empty(counts, k, comm, &empty, problem))
        return false;
    return empty == 0 ||
           refill(points, nearest, distance2, counts, k, empty, centroids, comm, refilled, problem);
}
