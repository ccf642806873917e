/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage 1 of the aggregation, across the threads of a rank (Zhang, Qiu, Lee and Crandall, section
 * V): the points are sorted by cluster, and each thread sums up slices of that order. So two
 * threads access the same value of the pool only if a cluster extends from one slice into the next.
 */
#include "config.h"

#include "kmeans/assign/cluster_sums.h"

#include "kmeans/points/fixed_point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points that a thread adds up at a time. The sum of one of their features is far below 2^32. */
enum { SLICE = 4096 };

/*
 * Returns the number of sums in a value: one for each feature, or two for real ones (km_real_add).
 */
static size_t sums_of(const km_points *points) {
    return points->real.used ? 2 * points->dim : points->dim;
}

/*
 * Returns whether the numbers in a value of the pool (a count or sum of weights, then the sums of
 * features) have 64 bits, because sums over all points may need that.
 */
static bool is_wide(const km_points *points) {
    return points->real.used || points->weights || points->total > UINT32_MAX / 255;
}

static void add_narrow(void *into, const void *from, size_t bytes, void *context) {
    (void)context;
    uint32_t *sums = into;
    const uint32_t *more = from;
    for (size_t i = 0; i < bytes / sizeof *sums; i++)
        sums[i] += more[i];
}

static void add_wide(void *into, const void *from, size_t bytes, void *context) {
    (void)context;
    uint64_t *sums = into;
    const uint64_t *more = from;
    for (size_t i = 0; i < bytes / sizeof *sums; i++)
        sums[i] += more[i];
}

bool km_cluster_sums_pool(const km_points *points, COLL_Pool **pool, app_problem *problem) {
    size_t sums = sums_of(points) + 1;
    if (is_wide(points))
        return app_mpi(problem, COLL_Pool_create(sums * sizeof(uint64_t), add_wide, NULL, pool));
    return app_mpi(problem, COLL_Pool_create(sums * sizeof(uint32_t), add_narrow, NULL, pool));
}

static bool is_part_of(const km_change *change, size_t i) {
    return change->clusters[i] != KM_NO_CLUSTER && change->clusters[i] != change->others[i];
}

/*
 * Sorts the points of CHANGE by cluster into ORDER (counting sort) and returns their number. On
 * return, the points of cluster j end before STARTS[j].
 */
static size_t sort_by_cluster(const km_change *change, size_t rows, size_t k, uint32_t *order,
                              size_t *starts) {
    memset(starts, 0, (k + 1) * sizeof *starts);
    for (size_t i = 0; i < rows; i++)
        if (is_part_of(change, i))
            starts[change->clusters[i] + 1]++;
    for (size_t j = 0; j < k; j++)
        starts[j + 1] += starts[j];
    size_t sorted = starts[k];
    for (size_t i = 0; i < rows; i++)
        if (is_part_of(change, i))
            order[starts[change->clusters[i]]++] = (uint32_t)i;
    return sorted;
}

/*
 * Adds up the points FROM to TO - 1 of ORDER, four at a time, so that the sums are seldom accessed.
 */
static void add_rows(const km_points *points, const uint32_t *order, size_t from, size_t to,
                     uint32_t *sums) {
    size_t dim = points->dim, i = from;
    for (; i + 4 <= to; i += 4) {
        const uint8_t *a = points->data + order[i] * dim;
        const uint8_t *b = points->data + order[i + 1] * dim;
        const uint8_t *c = points->data + order[i + 2] * dim;
        const uint8_t *d = points->data + order[i + 3] * dim;
#pragma omp simd
        for (size_t column = 0; column < dim; column++)
            sums[column] += (uint16_t)(a[column] + b[column] + c[column] + d[column]);
    }
    for (; i < to; i++) {
        const uint8_t *row = points->data + order[i] * dim;
#pragma omp simd
        for (size_t column = 0; column < dim; column++)
            sums[column] += row[column];
    }
}

/* Does the same with real features; negative sums are stored in two's complement. */
static void add_real_rows(const km_points *points, const uint32_t *order, size_t from, size_t to,
                          uint64_t *sums) {
    enum { AHEAD = 4, LINE = 64 }; /* rows that are fetched beforehand, bytes of a cache line */
    const size_t dim = points->dim, bytes = dim * sizeof(float);
    for (size_t i = from; i < to; i++) {
        const uint8_t *next = points->data + order[i + AHEAD < to ? i + AHEAD : i] * bytes;
        for (size_t at = 0; at < bytes; at += LINE)
            __builtin_prefetch(next + at);
        km_real_add(&points->real, (const float *)(points->data + order[i] * bytes), dim,
                    km_point_weight(points, order[i]), (int64_t *)sums, (int64_t *)sums + dim);
    }
}

/* Does the same with weighted bytes. */
static void add_weighted_rows(const km_points *points, const uint32_t *order, size_t from,
                              size_t to, uint64_t *sums) {
    size_t dim = points->dim;
    for (size_t i = from; i < to; i++) {
        const uint64_t weight = points->weights[order[i]];
        const uint8_t *row = points->data + order[i] * dim;
#pragma omp simd
        for (size_t column = 0; column < dim; column++)
            sums[column] += weight * row[column];
    }
}

static uint64_t weight_of(const km_points *points, const uint32_t *order, size_t from, size_t to) {
    uint64_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += km_point_weight(points, order[i]);
    return sum;
}

/* A thread's part of km_cluster_sums_add. */
typedef struct adder {
    const km_points *points;
    const km_change *change;
    const uint32_t *order;
    COLL_Pool *pool;
    uint32_t *sums;      /* scratch memory for one value of the pool, as 32-bit numbers */
    uint64_t *wide_sums; /* the same, as 64-bit numbers */
} adder;

/* Adds the points FROM to TO - 1 of the order, all of CLUSTER, to the pool, or subtracts them. */
static int add_cluster_part(const adder *this, size_t from, size_t to, uint64_t cluster) {
    const km_points *points = this->points;
    const uint32_t *order = this->order;
    uint32_t *sums = this->sums;
    uint64_t *wide_sums = this->wide_sums;
    const size_t numbers = sums_of(points) + 1;
    if (points->real.used || points->weights) {
        memset(wide_sums, 0, numbers * sizeof *wide_sums);
        wide_sums[0] = weight_of(points, order, from, to);
        (points->real.used ? add_real_rows : add_weighted_rows)(points, order, from, to,
                                                                wide_sums + 1);
    } else {
        memset(sums, 0, numbers * sizeof *sums);
        sums[0] = (uint32_t)(to - from);
        add_rows(points, order, from, to, sums + 1);
        for (size_t i = 0; i < numbers; i++)
            wide_sums[i] = sums[i];
    }
    for (size_t i = 0; this->change->subtract && i < numbers; i++)
        wide_sums[i] = -wide_sums[i];
    if (is_wide(points))
        return COLL_Pool_add(this->pool, cluster, wide_sums);
    for (size_t i = 0; i < numbers; i++)
        sums[i] = (uint32_t)wide_sums[i];
    return COLL_Pool_add(this->pool, cluster, sums);
}

static int add_slice(const adder *this, size_t from, size_t to) {
    const uint32_t *clusters = this->change->clusters, *order = this->order;
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && from < to) {
        uint32_t cluster = clusters[order[from]];
        size_t end = from + 1;
        while (end < to && clusters[order[end]] == cluster)
            end++;
        code = add_cluster_part(this, from, end, cluster);
        from = end;
    }
    return code;
}

bool km_cluster_sums_add(const km_points *points, const km_change *change, size_t k, int threads,
                         uint32_t *order, size_t *starts, COLL_Pool *pool, app_problem *problem) {
    const size_t count = sort_by_cluster(change, points->rows, k, order, starts);
    int first_error = MPI_SUCCESS;
#pragma omp parallel num_threads(threads)
    {
        int code = MPI_SUCCESS;
        const adder own = {.points = points,
                           .change = change,
                           .order = order,
                           .pool = pool,
                           .sums = malloc((points->dim + 1) * sizeof *own.sums),
                           .wide_sums = malloc((sums_of(points) + 1) * sizeof *own.wide_sums)};
        if (!own.wide_sums || !own.sums)
            code = MPI_ERR_NO_MEM;
#pragma omp for schedule(dynamic)
        for (size_t from = 0; from < count; from += SLICE) {
            size_t to = count - from < SLICE ? count : from + SLICE;
            if (code == MPI_SUCCESS)
                code = add_slice(&own, from, to);
        }
        free(own.sums);
        free(own.wide_sums);
        if (code != MPI_SUCCESS) {
#pragma omp critical
            first_error = code;
        }
    }
    return app_mpi(problem, first_error);
}

uint64_t km_distance2(const uint8_t *a, const uint8_t *b, size_t dim) {
    uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < dim; i++) {
        int difference = a[i] - b[i];
        sum += (uint32_t)(difference * difference);
    }
    return sum;
}

/* Returns the squared distance between two rows that are not fixed-point centroids. */
static double rows_way2(const km_points *points, const uint8_t *a, const uint8_t *b) {
    if (points->real.used)
        return km_real_distance2((const float *)a, (const float *)b, points->dim);
    return (double)km_distance2(a, b, points->dim);
}

double km_centroid_shift2(const km_points *points, size_t k, const uint8_t *a, const uint8_t *b,
                          size_t j) {
    size_t bytes = km_row_bytes(points);
    if (points->fixed_point)
        return ldexp((double)km_planes_shift2(&(km_planes){a, k, points->dim},
                                              &(km_planes){b, k, points->dim}, j),
                     -2 * KM_FRACTION_BITS);
    double way2 = rows_way2(points, a + j * bytes, b + j * bytes);
    return points->real.used ? way2 / points->real.scale / points->real.scale : way2;
}

uint32_t km_rows_distance2(const km_points *points, const uint8_t *a, const uint8_t *b) {
    double distance2 = rows_way2(points, a, b);
    return points->real.used ? km_real_bits(distance2) : (uint32_t)distance2;
}

uint32_t km_point_distance2(const km_points *points, size_t i, const uint8_t *centroids, size_t k,
                            size_t j) {
    size_t bytes = km_row_bytes(points);
    const uint8_t *row = points->data + i * bytes;
    if (points->fixed_point)
        return km_fixed_point_bits(
            km_planes_distance2(&(km_planes){centroids, k, points->dim}, j, row));
    return km_rows_distance2(points, row, centroids + j * bytes);
}

typedef struct pool_sum {
    COLL_Pool *into;
    int code;
} pool_sum;

static int add_value(uint64_t cluster, const void *value, void *context) {
    pool_sum *sum = context;
    sum->code = COLL_Pool_add(sum->into, cluster, value);
    return sum->code != MPI_SUCCESS;
}

bool km_cluster_sums_merge(COLL_Pool *into, const COLL_Pool *from, app_problem *problem) {
    pool_sum sum = {into, MPI_SUCCESS};
    if (COLL_Pool_visit(from, add_value, &sum) && sum.code == MPI_SUCCESS)
        return app_refuse(problem, "out of memory");
    return app_mpi(problem, sum.code);
}

typedef struct mean_update {
    const km_points *points;
    size_t k;
    uint8_t *centroids;
    uint64_t *counts;
} mean_update;

/* Returns the number at INDEX in a value: 0 is the count, and the sums follow. */
static uint64_t number_at(bool wide, const void *value, size_t index) {
    return wide ? ((const uint64_t *)value)[index] : ((const uint32_t *)value)[index];
}

static int set_mean(uint64_t cluster, const void *value, void *context) {
    const mean_update *to = context;
    const km_points *points = to->points;
    const bool wide = is_wide(points), real = points->real.used;
    const size_t dim = points->dim;
    uint8_t *centroid = to->centroids + cluster * km_row_bytes(points);
    uint64_t count = to->counts[cluster] = number_at(wide, value, 0);
    if (!count)
        return 0;
    for (size_t i = 0; i < dim; i++) {
        uint64_t sum = number_at(wide, value, i + 1);
        if (points->fixed_point)
            km_planes_set_mean(to->centroids, to->k * dim, cluster * dim + i, sum, count);
        else if (real)
            ((float *)centroid)[i] =
                km_real_mean(&points->real, i, (int64_t)sum,
                             (int64_t)number_at(wide, value, dim + i + 1), count);
        else
            centroid[i] = (uint8_t)((2 * sum + count) / (2 * count));
    }
    if (points->real.unit)
        km_real_normalise(&points->real, (float *)centroid, dim);
    return 0;
}

bool km_update_centroids(const COLL_Pool *pool, const km_points *points, size_t k,
                         uint8_t *centroids, uint64_t *counts, app_problem *problem) {
    mean_update to = {points, k, centroids, counts};
    memset(counts, 0, k * sizeof *counts);
    return COLL_Pool_visit(pool, set_mean, &to) == 0 || app_refuse(problem, "out of memory");
}
