/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/assign/empty_clusters.h"

#include "app/checksum.h"
#include "kmeans/points/fixed_point.h"
#include "kmeans/points/random.h"
#include "kmeans/points/rows.h"

#include <coll.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

/*
 * The places of at most about SAMPLE points are considered, or of PER_CLUSTER points for each empty
 * cluster if that is more.
 */
enum { SAMPLE = 1 << 16, PER_CLUSTER = 16 };

/* A place that an empty cluster may get; a weight of 0 means no place. */
typedef struct place {
    uint64_t weight;
    uint64_t row; /* the lowest row of the equal points */
} place;

static const place none = {0, UINT64_MAX};

/* Returns whether A is used before B. */
static bool precedes(place a, place b) {
    return a.weight != b.weight ? a.weight > b.weight : a.row < b.row;
}

static int compare_places(const void *a, const void *b) {
    const place *left = a, *right = b;
    return precedes(*right, *left) - precedes(*left, *right);
}

/* The COUNT best places so far: a heap whose root is the worst of them. */
typedef struct best_places {
    place *heap;
    size_t count;
} best_places;

/* Moves the root down to its position in the heap. */
static void sift_down(const best_places *best) {
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

static int keep_if_better(uint64_t key, const void *value, void *context) {
    const best_places *best = context;
    const place *found = value;
    (void)key;
    if (precedes(*found, best->heap[0])) {
        best->heap[0] = *found;
        sift_down(best);
    }
    return 0;
}

/* Merges two parts of one place. */
static void merge_places(void *into, const void *from, size_t bytes, void *context) {
    place *sum = into;
    const place *more = from;
    (void)bytes, (void)context;
    sum->weight += more->weight;
    sum->row = more->row < sum->row ? more->row : sum->row;
}

/* A search for places among this rank's points. */
typedef struct place_search {
    const km_refill *in;
    const uint8_t *may_give; /* for each cluster: whether it has more than one member or,
                                with weights, more weight than the smallest unit (points.h) */
    double unit;             /* the unit of squared distances */
    int rarity;              /* about one of 2^RARITY places is considered */
} place_search;

/*
 * Returns a hash key for the value of point I: equal points, which form one place, have the same
 * key. Equal points have the same distance. Different points with the same checksum and the same
 * distance count as one place, which is too rare to do harm.
 */
static uint64_t key_of(const place_search *this, size_t i) {
    size_t bytes = km_row_bytes(this->in->points);
    uint64_t checksum = app_checksum(0, this->in->points->data + i * bytes, bytes);
    return km_mix(checksum << 32 | this->in->distance2[i]);
}

static bool is_sampled(const place_search *this, uint64_t key) {
    return this->rarity == 0 || key >> (64 - this->rarity) == 0;
}

/*
 * Adds to POOL the sampled places (distinct point values to which an empty cluster may move) among
 * this rank's points.
 */
static bool offer_places(const place_search *this, COLL_Pool *pool, app_problem *problem) {
    const km_points *points = this->in->points;
    int code = MPI_SUCCESS;
#pragma omp parallel for num_threads(this->in->threads) reduction(max : code)
    for (size_t i = 0; i < points->rows; i++) {
        place here = {km_real_to_units(this->unit, this->in->distance2[i]) *
                          km_point_weight(points, i),
                      points->first + i};
        if (!here.weight || !this->may_give[this->in->nearest[i]])
            continue;
        uint64_t key = key_of(this, i);
        int error = is_sampled(this, key) ? COLL_Pool_add(pool, key, &here) : MPI_SUCCESS;
        code = error > code ? error : code;
    }
    return app_mpi(problem, code);
}

/*
 * Finds, at rank 0, the BEST places among the places of all ranks. Sets *FOUND on all ranks to the
 * number of places that were considered. Returns whether no rank has a problem.
 */
static bool find_places(const place_search *this, best_places *best, uint64_t *found,
                        app_problem *problem) {
    const MPI_Comm comm = this->in->comm;
    COLL_Pool *pool = NULL;
    for (size_t i = 0; i < best->count; i++)
        best->heap[i] = none;
    if (app_mpi(problem, COLL_Pool_create(sizeof(place), merge_places, NULL, &pool)))
        offer_places(this, pool, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        if (app_mpi(problem, COLL_Aggregate(pool, 0, comm, NULL)) && app_rank(comm) == 0 &&
            COLL_Pool_visit(pool, keep_if_better, best) != 0)
            app_refuse(problem, "out of memory");
        *found = COLL_Pool_size(pool);
        app_mpi(problem, MPI_Bcast(found, 1, MPI_UINT64_T, 0, comm));
        good = app_agree(problem, comm);
    }
    COLL_Pool_free(&pool);
    return good;
}

/*
 * Does the same with a sample of the places, and again with larger samples while fewer than SAMPLE
 * / PER_CLUSTER places, or fewer places than there are empty clusters, are found. Sorts the best
 * places.
 */
static bool find_best_places(place_search *this, best_places *best, app_problem *problem) {
    uint64_t found = 0, wanted = best->count * PER_CLUSTER;
    wanted = wanted > SAMPLE ? wanted : SAMPLE;
    for (this->rarity = 0; this->in->points->total >> this->rarity > wanted;)
        this->rarity++;
    while (find_places(this, best, &found, problem) && this->rarity && found < wanted / PER_CLUSTER)
        this->rarity = this->rarity > 3 ? this->rarity - 3 : 0;
    qsort(best->heap, best->count, sizeof *best->heap, compare_places);
    return !problem->text[0];
}

/*
 * Sets *EMPTY on all ranks to the number of empty clusters, which rank 0 counts. Returns whether no
 * rank has a problem.
 */
static bool count_empty(const km_refill *in, uint64_t *empty, app_problem *problem) {
    int rank = app_rank(in->comm);
    *empty = 0;
    for (size_t j = 0; rank == 0 && !problem->text[0] && j < in->k; j++)
        *empty += in->counts[j] == 0;
    if (!app_agree_sum(problem, empty, 1, in->comm))
        return false;
    return *empty <= INT_MAX / sizeof(place) ||
           app_refuse(problem, "%" PRIu64 " empty clusters are too many to refill", *empty);
}

/*
 * Assigns, at rank 0, places to the empty clusters in order. Returns the number of assigned places.
 */
static uint64_t assign_places(const best_places *best, const uint64_t *counts, km_place *places) {
    uint64_t cluster = 0, pairs = 0;
    for (; pairs < best->count && best->heap[pairs].weight; pairs++) {
        while (counts[cluster])
            cluster++;
        places[pairs] = (km_place){best->heap[pairs].row, cluster++};
    }
    return pairs;
}

/* Sets the centroids to the points of PLACES. */
static bool place_centroids(const km_refill *in, const km_place *places, uint64_t count,
                            app_problem *problem) {
    bool good = km_place_rows(in->points, places, count, in->centroids, in->comm, problem);
    for (uint64_t i = 0; good && in->points->fixed_point && app_rank(in->comm) == 0 && i < count;
         i++)
        km_planes_clear_fractions(in->centroids, in->k, in->points->dim, places[i].centroid);
    return good;
}

/* Moves EMPTY > 0 clusters onto points. */
static bool move_empty_clusters(const km_refill *in, uint64_t empty, uint64_t *refilled,
                                app_problem *problem) {
    const MPI_Comm comm = in->comm;
    const size_t k = in->k;
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
        may_give[j] = in->counts[j] > 1;
    app_mpi(problem, MPI_Bcast(may_give, (int)k, MPI_UINT8_T, 0, comm));
    if (!app_agree(problem, comm))
        goto free_all;
    place_search this = {.in = in, .may_give = may_give};
    if (km_has_real_distances(in->points) &&
        !km_real_find_unit(&in->points->real, in->distance2, in->points->rows, comm, &this.unit,
                           problem))
        goto free_all;
    if (!find_best_places(&this, &best, problem))
        goto free_all;
    if (rank == 0)
        *refilled = assign_places(&best, in->counts, places);
    if (app_mpi(problem, MPI_Bcast(refilled, 1, MPI_UINT64_T, 0, comm)))
        app_mpi(problem, MPI_Bcast(places, (int)(2 * *refilled), MPI_UINT64_T, 0, comm));
    good = app_agree(problem, comm) && place_centroids(in, places, *refilled, problem);
free_all:
    free(may_give);
    free(places);
    free(best.heap);
    return good;
}

bool km_refill_empty_clusters(const km_refill *in, uint64_t *refilled, app_problem *problem) {
    uint64_t empty;
    *refilled = 0;
    if (!count_empty(in, &empty, problem))
        return false;
    return empty == 0 || move_empty_clusters(in, empty, refilled, problem);
}
