#include "config.h"

#include "kmeans/assign/refill.h"

#include "app/checksum.h"
#include "kmeans/points/fine.h"
#include "kmeans/points/random.h"
#include "kmeans/points/rows.h"

#include <coll.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

enum { SAMPLE = 1 << 20, PER_CLUSTER = 16 }; /* places to look at: so many, or for each cluster */

/* A place that an empty cluster may take; with a weight of 0 it stands for none. */
typedef struct place {
    uint64_t weight;
    uint64_t row; /* the lowest */
} place;

static const place none = {0, UINT64_MAX};

/* Whether A is taken before B. */
static bool precedes(place a, place b) {
    return a.weight != b.weight ? a.weight > b.weight : a.row < b.row;
}

static int compare(const void *a, const void *b) {
    const place *left = a, *right = b;
    return precedes(*right, *left) - precedes(*left, *right);
}

/* The first COUNT of the places that were put in: a heap, whose root is the last of them. */
typedef struct best_places {
    place *heap;
    size_t count;
} best_places;

/* Lets the root sink to its place in the heap. */
static void sink(const best_places *best) {
    place *heap = best->heap;
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= best->count)
            return;
        if (child + 1 < best->count && precedes(heap[child], heap[child + 1]))
            child++;
        if (precedes(heap[child], heap[at]))
            return;
        place moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

static int put_in(uint64_t key, const void *value, void *context) {
    const best_places *best = context;
    const place *found = value;
    (void)key;
    if (precedes(*found, best->heap[0])) {
        best->heap[0] = *found;
        sink(best);
    }
    return 0;
}

/* Two parts of one place. */
static void combine(void *into, const void *from, size_t bytes, void *context) {
    place *sum = into;
    const place *more = from;
    (void)bytes, (void)context;
    sum->weight += more->weight;
    sum->row = more->row < sum->row ? more->row : sum->row;
}

/* What the rule goes by. */
typedef struct offer {
    const km_points *points;
    const uint32_t *nearest, *distance2;
    const uint8_t *may_give; /* of each cluster */
    int threads;
    double unit; /* of squared distances */
    int rarity;  /* of 2^RARITY places one is looked at */
} offer;

/*
 * A key for the place of point I: equal points have the same distance. That others have the same
 * checksum and the same distance is so rare that it does no harm: they count as one place.
 */
static uint64_t key_of(const offer *this, size_t i) {
    size_t bytes = km_row_bytes(this->points);
    uint64_t checksum = app_checksum(0, this->points->data + i * bytes, bytes);
    return km_mix(checksum << 32 | this->distance2[i]);
}

static bool is_looked_at(const offer *this, uint64_t key) {
    return this->rarity == 0 || key >> (64 - this->rarity) == 0;
}

/* Puts the places of this rank's points into POOL. */
static bool offer_places(const offer *this, COLL_Pool *pool, app_problem *problem) {
    const km_points *points = this->points;
    int code = MPI_SUCCESS;
#pragma omp parallel for num_threads(this->threads) reduction(max : code)
    for (size_t i = 0; i < points->rows; i++) {
        place here = {km_real_units(this->unit, this->distance2[i]), points->first + i};
        if (!here.weight || !this->may_give[this->nearest[i]])
            continue;
        uint64_t key = key_of(this, i);
        int error = is_looked_at(this, key) ? COLL_Pool_add(pool, key, &here) : MPI_SUCCESS;
        code = error > code ? error : code;
    }
    return app_mpi(problem, code);
}

/* Finds, at rank 0, the BEST places among those of all ranks, and how many there are. Agrees. */
static bool find_places(const offer *this, const best_places *best, MPI_Comm comm, uint64_t *found,
                        app_problem *problem) {
    COLL_Pool *pool = NULL;
    for (size_t i = 0; i < best->count; i++)
        best->heap[i] = none;
    if (app_mpi(problem, COLL_Pool_create(sizeof(place), combine, NULL, &pool)))
        offer_places(this, pool, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        if (app_mpi(problem, COLL_Aggregate(pool, 0, comm, NULL)) && app_rank(comm) == 0 &&
            COLL_Pool_visit(pool, put_in, (void *)best) != 0)
            app_refuse(problem, "out of memory");
        *found = COLL_Pool_size(pool);
        app_mpi(problem, MPI_Bcast(found, 1, MPI_UINT64_T, 0, comm));
        good = app_agree(problem, comm);
    }
    COLL_Pool_free(&pool);
    return good;
}

/* The same among few of the places, more where those are not enough; in order. */
static bool find_some(offer *this, const best_places *best, MPI_Comm comm, app_problem *problem) {
    uint64_t found = 0, wanted = best->count * PER_CLUSTER;
    wanted = wanted > SAMPLE ? wanted : SAMPLE;
    for (this->rarity = 0; this->points->total >> this->rarity > wanted;)
        this->rarity++;
    while (find_places(this, best, comm, &found, problem) && this->rarity &&
           found < wanted / PER_CLUSTER)
        this->rarity = this->rarity > 3 ? this->rarity - 3 : 0;
    qsort(best->heap, best->count, sizeof *best->heap, compare);
    return !problem->text[0];
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
    return *empty <= INT_MAX / sizeof(place) ||
           app_refuse(problem, "%" PRIu64 " empty clusters are too many to refill", *empty);
}

/* Rank 0 pairs the places with the empty clusters, in order; returns how many there were. */
static uint64_t pair(const best_places *best, const uint64_t *counts, km_place *places) {
    uint64_t cluster = 0, pairs = 0;
    for (; pairs < best->count && best->heap[pairs].weight; pairs++) {
        while (counts[cluster])
            cluster++;
        places[pairs] = (km_place){best->heap[pairs].row, cluster++};
    }
    return pairs;
}

/* Puts the centroids onto the points of PLACES. */
static bool place_centroids(const km_points *points, const km_place *places, uint64_t count,
                            size_t k, uint8_t *centroids, MPI_Comm comm, app_problem *problem) {
    bool good = km_place_rows(points, places, count, centroids, comm, problem);
    for (uint64_t i = 0; good && points->fine && app_rank(comm) == 0 && i < count; i++)
        km_planes_widen(centroids, k, points->dim, places[i].centroid);
    return good;
}

/* Moves EMPTY clusters, above 0, onto points. */
static bool refill(const km_points *points, const uint32_t *nearest, const uint32_t *distance2,
                   const uint64_t *counts, size_t k, uint64_t empty, uint8_t *centroids,
                   int threads, MPI_Comm comm, uint64_t *refilled, app_problem *problem) {
    int rank = app_rank(comm);
    bool good = false;
    best_places best = {malloc(empty * sizeof *best.heap), empty};
    km_place *places = malloc(empty * sizeof *places);
    uint8_t *may_give = calloc(k, 1);
    if (!best.heap || !places || !may_give)
        app_refuse(problem, "out of memory");
    if (!app_agree(problem, comm))
        goto free_all;
    for (size_t j = 0; rank == 0 && j < k; j++)
        may_give[j] = counts[j] > 1;
    app_mpi(problem, MPI_Bcast(may_give, (int)k, MPI_UINT8_T, 0, comm));
    if (!app_agree(problem, comm))
        goto free_all;
    offer this = {points, nearest, distance2, may_give, threads, points->real.distance, 0};
    if (points->real.used &&
        !km_real_unit(&points->real, distance2, points->rows, comm, &this.unit, problem))
        goto free_all;
    if (!find_some(&this, &best, comm, problem))
        goto free_all;
    if (rank == 0)
        *refilled = pair(&best, counts, places);
    if (app_mpi(problem, MPI_Bcast(refilled, 1, MPI_UINT64_T, 0, comm)))
        app_mpi(problem, MPI_Bcast(places, (int)(2 * *refilled), MPI_UINT64_T, 0, comm));
    good = app_agree(problem, comm) &&
           place_centroids(points, places, *refilled, k, centroids, comm, problem);
free_all:
    free(may_give);
    free(places);
    free(best.heap);
    return good;
}

bool km_refill(const km_points *points, const uint32_t *nearest, const uint32_t *distance2,
               const uint64_t *counts, size_t k, uint8_t *centroids, int threads, MPI_Comm comm,
               uint64_t *refilled, app_problem *problem) {
    uint64_t empty;
    *refilled = 0;
    if (!count_empty(counts, k, comm, &empty, problem))
        return false;
    return empty == 0 || refill(points, nearest, distance2, counts, k, empty, centroids, threads,
                                comm, refilled, problem);
}
