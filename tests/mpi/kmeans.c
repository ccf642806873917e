/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares K-means with a plain reference in double precision, which one rank computes alone. */
#include "config.h"

#include "kmeans/assign/cluster_sums.h"
#include "kmeans/kmeans.h"
#include "kmeans/points/fixed_point.h"
#include "kmeans/points/random.h"
#include "tests/support/harness.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

struct trial {
    const char *name;
    size_t rows, dim, k;
    int64_t iterations;
    double tolerance;
    int distinct; /* the number of different points; 0 for any */
    int spread;   /* the spread of points around the centre of their group */
};

static const struct trial trials[] = {
    {"groups", 500, 24, 12, 10, -1, 0, 30},      {"noise", 300, 7, 40, 30, -1, 0, 255},
    {"one cluster", 97, 5, 1, 10, -1, 0, 99},    {"a cluster each", 40, 6, 40, 5, -1, 0, 60},
    {"one point", 1, 3, 1, 10, -1, 0, 9},        {"fewer than ranks", 3, 2, 2, 10, -1, 0, 255},
    {"equal points", 60, 4, 9, 10, -1, 1, 0},    {"few points", 200, 9, 12, 10, -1, 5, 0},
    {"more points", 200, 9, 12, 10, -1, 14, 0},  {"none", 50, 4, 5, 0, -1, 0, 99},
    {"one iteration", 50, 4, 5, 1, -1, 0, 99},   {"tolerance", 400, 3, 9, 100, 9.5, 0, 200},
    {"no tolerance", 400, 3, 9, 100, 0, 0, 200}, {"one dimension", 900, 1, 60, 40, -1, 0, 255},
};
enum { TRIALS = sizeof trials / sizeof *trials, SEED = 7 };

static uint32_t hash(uint32_t value) {
    value = (value ^ value >> 16) * 0x45d9f3b;
    value = (value ^ value >> 16) * 0x45d9f3b;
    return value ^ value >> 16;
}

static uint8_t feature(const struct trial *trial, size_t row, size_t column) {
    uint32_t id = trial->distinct ? hash((uint32_t)row) % (uint32_t)trial->distinct : (uint32_t)row;
    uint32_t place = id * 1009 + (uint32_t)column + 1;
    int middle = (int)(hash(id % 6 * 77 + (uint32_t)column) % 256);
    int value = middle + (int)(hash(place) % (2 * (uint32_t)trial->spread + 1)) - trial->spread;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* The results of the reference, in doubles. */
struct reference {
    bool fine; /* float centroids, whose distances are reported as floats */
    int steps; /* a mean is rounded to multiples of 1 / steps; 0: it is not rounded */
    double *points, *centroids, *old, *distance;
    size_t *nearest, *before, *count;
    double objective[128]; /* the objective of each assignment */
    int64_t iterations;
    km_stop stop;
};

static double distance2(const double *a, const double *b, size_t dim) {
    double sum = 0;
    for (size_t i = 0; i < dim; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* Assigns all points, and returns how many changed their cluster. */
static size_t assign(struct reference *it, const struct trial *trial, int64_t pass) {
    size_t moved = 0;
    it->objective[pass] = 0;
    memcpy(it->before, it->nearest, trial->rows * sizeof *it->nearest);
    for (size_t i = 0; i < trial->rows; i++) {
        it->distance[i] = INFINITY;
        for (size_t j = 0; j < trial->k; j++) {
            double distance =
                distance2(it->points + i * trial->dim, it->centroids + j * trial->dim, trial->dim);
            if (distance < it->distance[i]) {
                it->distance[i] = distance;
                it->nearest[i] = j;
            }
        }
        if (it->fine) /* distances are reported as floats */
            it->distance[i] = (double)(float)it->distance[i];
        it->objective[pass] += it->distance[i];
        moved += pass == 0 || it->nearest[i] != it->before[i];
    }
    return moved;
}

static void set_means(struct reference *it, const struct trial *trial) {
    memset(it->count, 0, trial->k * sizeof *it->count);
    for (size_t i = 0; i < trial->rows; i++)
        it->count[it->nearest[i]]++;
    for (size_t j = 0; j < trial->k; j++)
        for (size_t column = 0; it->count[j] && column < trial->dim; column++) {
            double sum = 0;
            for (size_t i = 0; i < trial->rows; i++)
                if (it->nearest[i] == j)
                    sum += it->points[i * trial->dim + column];
            double mean = sum / (double)it->count[j];
            if (it->steps > 0)
                mean = floor(sum * it->steps / (double)it->count[j] + 0.5) / it->steps;
            it->centroids[j * trial->dim + column] = mean;
        }
}

static bool is_equal(const struct reference *it, const struct trial *trial, size_t a, size_t b) {
    return !memcmp(it->points + a * trial->dim, it->points + b * trial->dim,
                   trial->dim * sizeof *it->points);
}

/*
 * For each set of equal points, sets the first one's distance to the sum of all, and the others' to
 * 0.
 */
static void weigh(struct reference *it, const struct trial *trial) {
    for (size_t i = 0; i < trial->rows; i++)
        for (size_t other = i + 1; other < trial->rows; other++)
            if (it->distance[other] > 0 && is_equal(it, trial, i, other)) {
                it->distance[i] += it->distance[other];
                it->distance[other] = 0;
            }
}

/* Applies the rule literally: gives each empty cluster the heaviest point that is left. */
static void refill(struct reference *it, const struct trial *trial) {
    weigh(it, trial);
    for (size_t j = 0; j < trial->k; j++) {
        size_t heaviest = trial->rows;
        if (it->count[j])
            continue;
        for (size_t i = 0; i < trial->rows; i++)
            if (it->distance[i] > 0 && it->count[it->nearest[i]] > 1 &&
                (heaviest == trial->rows || it->distance[i] > it->distance[heaviest]))
                heaviest = i;
        if (heaviest == trial->rows)
            return;
        memcpy(it->centroids + j * trial->dim, it->points + heaviest * trial->dim,
               trial->dim * sizeof *it->points);
        it->distance[heaviest] = 0; /* this point is taken */
    }
}

static double shift(const struct reference *it, const struct trial *trial) {
    double farthest = 0;
    for (size_t j = 0; j < trial->k; j++)
        farthest = fmax(farthest, distance2(it->old + j * trial->dim,
                                            it->centroids + j * trial->dim, trial->dim));
    return sqrt(farthest);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static void reference_new(struct reference *it, const struct trial *trial) {
    size_t n = trial->rows, cells = trial->k * trial->dim;
    *it = (struct reference){.points = allocate(n * trial->dim, sizeof(double)),
                             .centroids = allocate(cells, sizeof(double)),
                             .old = allocate(cells, sizeof(double)),
                             .distance = allocate(n, sizeof(double)),
                             .nearest = allocate(n, sizeof(size_t)),
                             .before = allocate(n, sizeof(size_t)),
                             .count = allocate(trial->k, sizeof(size_t)),
                             .stop = KM_STOP_ITERATIONS};
}

/* Runs the reference from initial centroids that the caller has set. */
static void reference_cluster(struct reference *it, const struct trial *trial) {
    size_t n = trial->rows, cells = trial->k * trial->dim;
    for (size_t j = 0; j < trial->k; j++)
        memcpy(it->centroids + j * trial->dim, it->points + km_sample_row(SEED, n, j) * trial->dim,
               trial->dim * sizeof *it->points);
    while (it->iterations < trial->iterations) {
        size_t moved = assign(it, trial, it->iterations++);
        memcpy(it->old, it->centroids, cells * sizeof *it->old);
        if (moved) {
            set_means(it, trial);
            refill(it, trial);
        }
        double way = shift(it, trial);
        if (way == 0) {
            it->stop = KM_STOP_UNMOVED;
            return;
        }
        if (way <= trial->tolerance) {
            it->stop = KM_STOP_TOLERANCE;
            break;
        }
    }
    assign(it, trial, it->iterations);
}

static void reference_run(struct reference *it, const struct trial *trial, bool fine) {
    reference_new(it, trial);
    it->fine = fine;
    it->steps = fine ? 1 << KM_FRACTION_BITS : 1;
    for (size_t i = 0; i < trial->rows * trial->dim; i++)
        it->points[i] = feature(trial, i / trial->dim, i % trial->dim);
    reference_cluster(it, trial);
}

static void reference_free(struct reference *it) {
    free(it->points);
    free(it->centroids);
    free(it->old);
    free(it->distance);
    free(it->nearest);
    free(it->before);
    free(it->count);
}

/* The results on rank 0, which are compared with the reference. */
struct watch {
    const struct reference *reference;
    const km_points *points;
    int64_t steps;
    uint64_t objective;
    bool good;
};

/* Returns whether an objective is right. Distances from fixed-point centroids are rounded. */
static bool is_objective(const km_points *points, uint64_t told, double wanted) {
    return fabs(km_points_objective(points, told) - wanted) <=
           (points->fixed_point ? 1e-7 * wanted : 0);
}

static void watch_step(const km_step *step, void *context) {
    struct watch *watch = context;
    watch->steps++;
    watch->good = watch->good && step->iteration == watch->steps &&
                  is_objective(watch->points, step->objective,
                               watch->reference->objective[watch->steps - 1]) &&
                  step->refilled <= step->empty && step->objective <= watch->objective;
    watch->objective = step->objective;
}

static void watch_progress(int64_t iteration, double done, void *context) {
    struct watch *watch = context;
    watch->good = watch->good && iteration >= 1 && done >= 0 && done <= 1;
}

/* Fails on any note, because there are no checkpoints. */
static void watch_note(const char *text, void *context) {
    struct watch *watch = context;
    (void)text;
    watch->good = false;
}

static void make_points(const struct trial *trial, bool fine, km_points *points) {
    app_problem problem = {""};
    *points = km_points_share(trial->rows, trial->dim, MPI_COMM_WORLD);
    points->data = allocate(points->rows * trial->dim + 1, 1);
    for (size_t i = 0; i < points->rows * trial->dim; i++)
        points->data[i] = feature(trial, points->first + i / trial->dim, i % trial->dim);
    ck_assert(!fine || km_points_use_fixed_point(points, &problem));
}

/* Returns feature I of the centroids of RESULT. */
static double centroid_feature(const struct reference *it, const struct trial *trial,
                               const km_result *result, size_t i) {
    float row[64]; /* for trials with fewer features */
    if (!it->fine)
        return result->centroids[i];
    km_planes_get(&(km_planes){result->centroids, trial->k, trial->dim}, i / trial->dim, row);
    return (double)row[i % trial->dim];
}

static bool is_same(const struct reference *it, const struct trial *trial, const km_points *points,
                    const km_result *result) {
    bool same = result->iterations == it->iterations && result->stop == it->stop;
    for (size_t i = 0; i < trial->k * trial->dim; i++)
        same = same && centroid_feature(it, trial, result, i) == it->centroids[i];
    for (size_t i = 0; i < points->rows; i++)
        same = same && result->nearest[i] == it->nearest[points->first + i];
    int64_t last = it->iterations - (it->stop == KM_STOP_UNMOVED);
    return same && is_objective(points, result->objective, it->objective[last]);
}

START_TEST(same_as_reference) {
    const struct trial *trial = &trials[_i % TRIALS];
    const bool fine = _i >= TRIALS;
    char text[256];
    struct reference expected;
    km_points points;
    reference_run(&expected, trial, fine);
    make_points(trial, fine, &points);
    for (int threads = 1; threads <= 4; threads *= 2) {
        km_settings settings = {.k = trial->k,
                                .iterations = trial->iterations,
                                .tolerance = trial->tolerance,
                                .moved = -1,
                                .gain = -1,
                                .seconds = -1,
                                .seed = SEED,
                                .threads = threads,
                                .kernel = km_kernel_best(text, sizeof text)};
        struct watch watch = {
            .reference = &expected, .points = &points, .objective = UINT64_MAX, .good = true};
        km_observer observer = {
            .step = watch_step, .progress = watch_progress, .note = watch_note, .context = &watch};
        km_result result;
        app_problem problem = {""};
        bool good = km_cluster(&points, &settings, &observer, MPI_COMM_WORLD, &result, &problem);
        harness_assert(good, "%s: %s", trial->name, problem.text);
        harness_assert(is_same(&expected, trial, &points, &result),
                       "%s with %d threads: not the reference's result", trial->name, threads);
        harness_assert(watch.good, "%s: steps as the reference's, objective never rising",
                       trial->name);
        km_result_free(&result);
    }
    free(points.data);
    reference_free(&expected);
}
END_TEST

/*
 * With one centroid the objective is that of the exact mean, plus the effect of rounding, within
 * its bound.
 */
START_TEST(rounding_is_bounded) {
    const struct trial *trial = &trials[2];
    struct reference expected;
    reference_run(&expected, trial, false);
    double exact = 0;
    for (size_t column = 0; column < trial->dim; column++) {
        double sum = 0;
        for (size_t i = 0; i < trial->rows; i++)
            sum += expected.points[i * trial->dim + column];
        for (size_t i = 0; i < trial->rows; i++)
            exact += pow(expected.points[i * trial->dim + column] - sum / (double)trial->rows, 2);
    }
    double rounded = expected.objective[expected.iterations - 1];
    ck_assert(rounded >= exact - 1e-6);
    ck_assert(rounded <= exact + (double)(trial->rows * trial->dim) / 4);
    reference_free(&expected);
}
END_TEST

START_TEST(bad_k) {
    char text[256];
    km_points points;
    make_points(&trials[0], false, &points);
    const size_t bad[] = {0, 501, (size_t)INT32_MAX + 1};
    for (int i = 0; i < 3; i++) {
        km_settings settings = {.k = bad[i],
                                .iterations = 1,
                                .moved = -1,
                                .gain = -1,
                                .seconds = -1,
                                .threads = 1,
                                .kernel = km_kernel_best(text, 256)};
        struct watch watch = {.good = true};
        km_observer observer = {
            .step = watch_step, .progress = watch_progress, .note = watch_note, .context = &watch};
        km_result result;
        app_problem problem = {""};
        bool good = km_cluster(&points, &settings, &observer, MPI_COMM_WORLD, &result, &problem);
        harness_assert(!good && strstr(problem.text, "k is "), "k = %zu", bad[i]);
    }
    free(points.data);
}
END_TEST

/* The first k elements of a permutation are distinct; another seed gives others. */
START_TEST(samples_are_distinct) {
    static const uint64_t totals[] = {1, 2, 3, 4, 5, 16, 17, 1000, 4096, 70001};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        uint64_t total = totals[i], differ = 0;
        bool *seen = allocate(total, sizeof *seen);
        for (uint64_t index = 0; index < total; index++) {
            uint64_t row = km_sample_row(1, total, index);
            ck_assert(row < total && !seen[row]);
            seen[row] = true;
            differ += row != km_sample_row(2, total, index);
        }
        ck_assert(total < 16 || differ > total / 2);
        free(seen);
    }
    ck_assert(km_sample_row(1, UINT64_MAX, 0) != km_sample_row(1, UINT64_MAX, 1));
}
END_TEST

/*
 * If more points are announced than 32-bit sums can hold, sums have 64 bits. The means are the
 * same, and one half is rounded up. Points that have moved leave one cluster and enter another.
 */
START_TEST(narrow_and_wide_sums) {
    static const uint64_t totals[] = {9, UINT32_MAX / 255, UINT32_MAX / 255 + 1, UINT64_C(1) << 40};
    static const uint32_t nearest[] = {3, 0, 3, 3, 3, 3, 0, 3, 3};
    static const uint32_t before[] = {2, 0, 3, 0, 3, 2, 3, 3, 0};
    static uint8_t features[] = {9,   1,   1,   255, 2, 255, 255, 255, 255,
                                 255, 255, 254, 254, 0, 2,   255, 3,   255};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        km_points points = {.data = features, .rows = 9, .dim = 2, .total = totals[i]};
        uint32_t order[9];
        size_t starts[5];
        uint8_t centroids[8] = {7, 7, 7, 7, 7, 7, 7, 7};
        uint64_t counts[4];
        uint32_t none[9];
        memset(none, 0xff, sizeof none);
        const km_change first = {before, none, false}, same = {nearest, none, false},
                        left = {before, nearest, true}, entered = {nearest, before, false};
        COLL_Pool *pool = NULL, *changes = NULL;
        app_problem problem = {""};
        ck_assert(km_cluster_sums_pool(&points, &pool, &problem));
        ck_assert(km_cluster_sums_pool(&points, &changes, &problem));
        ck_assert(km_cluster_sums_add(&points, &first, 4, 2, order, starts, pool, &problem));
        ck_assert(km_cluster_sums_add(&points, &same, 4, 1, order, starts, pool, &problem));
        ck_assert(km_cluster_sums_add(&points, &left, 4, 2, order, starts, changes, &problem));
        ck_assert(km_cluster_sums_add(&points, &entered, 4, 2, order, starts, changes, &problem));
        ck_assert(km_cluster_sums_merge(pool, changes, &problem));
        ck_assert(km_update_centroids(pool, &points, 4, centroids, counts, &problem));
        COLL_Pool_free(&changes);
        COLL_Pool_free(&pool);
        ck_assert(counts[0] == 4 && counts[1] == 0 && counts[2] == 0 && counts[3] == 14);
        /* (1 + 254) / 2 = 127.5 and (255 + 0) / 2 = 127.5; 781 / 7 = 111.6, 1530 / 7 = 218.6. */
        ck_assert(centroids[0] == 128 && centroids[1] == 128);
        ck_assert(centroids[2] == 7 && centroids[5] == 7);
        ck_assert_uint_eq(centroids[6], 112);
        ck_assert_uint_eq(centroids[7], 219);
    }
}
END_TEST

/* Makes this rank's share of a trial's points as real features. */
static void make_real_points(const struct trial *trial, MPI_Comm comm, km_points *points) {
    app_problem problem = {""};
    *points = km_points_share(trial->rows, trial->dim, comm);
    size_t cells = points->rows * trial->dim;
    float *features = allocate(cells + 1, sizeof *features);
    for (size_t i = 0; i < cells; i++)
        features[i] =
            (float)feature(trial, points->first + i / trial->dim, i % trial->dim) / 3 - 20;
    points->data = (uint8_t *)features;
    ck_assert(km_real_center(points, NULL, 1, comm, &problem));
}

static void ignore_step(const km_step *step, void *context) {
    (void)step, (void)context;
}

static void ignore_progress(int64_t iteration, double done, void *context) {
    (void)iteration, (void)done, (void)context;
}

static void cluster_reals(const struct trial *trial, MPI_Comm comm, int threads,
                          const km_points *points, km_result *result) {
    km_settings settings = {.k = trial->k,
                            .iterations = trial->iterations,
                            .tolerance = trial->tolerance,
                            .moved = -1,
                            .gain = -1,
                            .seconds = -1,
                            .seed = SEED,
                            .threads = threads,
                            .kernel = km_kernel_best(NULL, 0)};
    km_observer observer = {.step = ignore_step, .progress = ignore_progress};
    app_problem problem = {""};
    ck_assert_msg(km_cluster(points, &settings, &observer, comm, result, &problem), "%s: %s",
                  trial->name, problem.text);
}

/* Returns the objective of RESULT, summed in double precision. */
static double real_objective(const km_points *points, const km_result *result) {
    double sum = 0;
    for (size_t i = 0; i < points->rows; i++)
        sum += km_real_distance2(
            (const float *)points->data + i * points->dim,
            (const float *)result->centroids + result->nearest[i] * points->dim, points->dim);
    return sum;
}

/*
 * With real features, all ranks together find the same bits as one rank alone, and the right
 * objective.
 */
START_TEST(reals_at_any_ranks) {
    const struct trial *trial = &trials[_i];
    km_points all, mine;
    km_result alone, together;
    make_real_points(trial, MPI_COMM_SELF, &all);
    make_real_points(trial, MPI_COMM_WORLD, &mine);
    cluster_reals(trial, MPI_COMM_SELF, 2, &all, &alone);
    cluster_reals(trial, MPI_COMM_WORLD, 1, &mine, &together);
    bool same = alone.objective == together.objective && alone.iterations == together.iterations;
    same = same && memcmp(alone.centroids, together.centroids, trial->k * km_row_bytes(&all)) == 0;
    same = same && memcmp(alone.nearest + mine.first, together.nearest,
                          mine.rows * sizeof *together.nearest) == 0;
    harness_assert(same, "%s: another result than one rank's", trial->name);
    double told = km_points_objective(&all, alone.objective);
    double wanted = real_objective(&all, &alone) / all.real.scale / all.real.scale;
    harness_assert(fabs(told - wanted) <= 1e-6 * wanted, "%s: objective %g, told as %g",
                   trial->name, wanted, told);
    km_result_free(&alone);
    km_result_free(&together);
    km_real_free(&all.real);
    km_real_free(&mine.real);
    free(all.data);
    free(mine.data);
}
END_TEST

/* Sums of real numbers keep their sign, and small values next to large ones. */
START_TEST(sums_of_reals) {
    float features[] = {-1000, 0.001f, 3, 1000, 0.003f, -7};
    const uint32_t nearest[] = {1, 1, 0}, before[] = {0, 1, 1};
    const uint32_t none[] = {KM_NO_CLUSTER, KM_NO_CLUSTER, KM_NO_CLUSTER};
    const km_change changes[] = {
        {before, none, false}, {before, nearest, true}, {nearest, before, false}};
    km_points points = {.data = (uint8_t *)features, .rows = 3, .dim = 2, .total = 3};
    uint32_t order[3];
    size_t starts[3];
    float centroids[4];
    uint64_t counts[2];
    COLL_Pool *pool = NULL;
    app_problem problem = {""};
    ck_assert(km_real_center(&points, NULL, 1, MPI_COMM_SELF, &problem));
    ck_assert(km_cluster_sums_pool(&points, &pool, &problem));
    for (size_t i = 0; i < 3; i++)
        ck_assert(km_cluster_sums_add(&points, &changes[i], 2, 2, order, starts, pool, &problem));
    ck_assert(km_update_centroids(pool, &points, 2, (uint8_t *)centroids, counts, &problem));
    COLL_Pool_free(&pool);
    for (size_t i = 0; i < 4; i++)
        centroids[i] = km_real_feature(&points.real, i % 2, centroids[i]);
    km_real_free(&points.real);
    ck_assert(counts[0] == 1 && counts[1] == 2);
    ck_assert(centroids[0] == 0.003f && centroids[1] == -7);
    ck_assert(centroids[2] == -498.5f);
    ck_assert(centroids[3] == (float)(((double)0.001f + 1000) / 2));
}
END_TEST

/*
 * If points are shifted and scaled by powers of two, so that no feature is rounded, they are stored
 * with the same bits.
 */
START_TEST(shift_and_scale) {
    static const struct {
        double shift, scale;
    } ways[] = {{0x1p22, 1}, {-0x1p23, 1}, {0, 0x1p-90}, {0x1p22, 0x1p-90}, {0, 0x1p100}};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        float near[] = {1, 7, 2, 9, 40, 80, 44, 90}, far[8];
        km_points plain = {.data = (uint8_t *)near, .rows = 4, .dim = 2, .total = 4};
        km_points moved = {.data = (uint8_t *)far, .rows = 4, .dim = 2, .total = 4};
        app_problem problem = {""};
        for (size_t i = 0; i < 8; i++)
            far[i] = (float)(((double)near[i] + ways[way].shift) * ways[way].scale);
        ck_assert(km_real_center(&plain, NULL, 1, MPI_COMM_SELF, &problem));
        ck_assert(km_real_center(&moved, NULL, 1, MPI_COMM_SELF, &problem));
        for (size_t i = 0; i < 8; i++)
            for (size_t j = i % 2; j < 8; j += 2)
                ck_assert(((double)near[i] - (double)near[j]) / plain.real.scale ==
                          ((double)far[i] - (double)far[j]) / moved.real.scale / ways[way].scale);
        km_real_free(&plain.real);
        km_real_free(&moved.real);
    }
}
END_TEST

/* Points that would lose precision if they were clustered unchanged in float32, in 30 data sets. */
enum { FAR, SCALED, FAR_AND_SCALED, UNEVEN, OUTLIER, TIME, KINDS, HARD = 5 * KINDS };
enum { OUTLIER_ROW = 100 };

/* Returns a number from 0 to 1 that depends on the data set and on two more numbers. */
static double even(int set, uint64_t of, uint64_t column) {
    return (double)(km_random((uint64_t)set, of, column) >> 11) * 0x1p-53;
}

static struct trial hard_trial(int set) {
    return (struct trial){.name = "hard for float32",
                          .rows = 300,
                          .dim = 2 + (size_t)set % 5,
                          .k = 2 + (size_t)set % 4,
                          .iterations = 8,
                          .tolerance = -1};
}

/*
 * Returns a feature near the centre of a cluster. Each cluster has one of the points from which the
 * centroids start.
 */
static float hard_feature(const struct trial *trial, int set, size_t row, size_t column) {
    const int kind = set % KINDS, powers[] = {-30, -15, 10, 20, 30};
    size_t group = hash((uint32_t)row) % trial->k;
    for (size_t j = 0; j < trial->k; j++)
        if (km_sample_row(SEED, trial->rows, j) == row)
            group = j;
    double value = 40 * even(set, trial->rows + group, column) + 2 * even(set, row, column) - 20;
    if (kind == FAR || kind == FAR_AND_SCALED)
        value += 1e7 * even(set, 2 * trial->rows, column);
    if (kind == SCALED || kind == FAR_AND_SCALED)
        value *= pow(10, powers[set / KINDS]);
    if (kind == UNEVEN)
        value *= pow(10, 24 * even(set, 2 * trial->rows, column) - 12);
    /* Cluster 0 is the nearest to the outlier, also by distances that are rounded to float32. */
    if (kind == OUTLIER && column == 0)
        value = row == OUTLIER_ROW ? 1e15 : group == 0 ? value + 50 : value;
    if (kind == TIME) /* in seconds since 1970; the other columns are ratios */
        value = column == 0 ? 1.7e9 + value * 1e6 : (value + 20) / 42;
    return (float)value;
}

/* Returns the largest magnitude in a column, without the outlier. */
static double magnitude(const struct reference *it, const struct trial *trial, size_t column) {
    double largest = 0;
    for (size_t i = 0; i < trial->rows; i++)
        if (i != OUTLIER_ROW)
            largest = fmax(largest, fabs(it->points[i * trial->dim + column]));
    return largest;
}

/*
 * Real features that are far from 0, tiny, huge or of very different sizes give the same result as
 * doubles.
 */
START_TEST(hard_reals) {
    const struct trial trial = hard_trial(_i);
    struct reference expected;
    km_result result;
    app_problem problem = {""};
    reference_new(&expected, &trial);
    for (size_t i = 0; i < trial.rows * trial.dim; i++)
        expected.points[i] = (double)hard_feature(&trial, _i, i / trial.dim, i % trial.dim);
    reference_cluster(&expected, &trial);
    km_points points = km_points_share(trial.rows, trial.dim, MPI_COMM_WORLD);
    float *features = allocate(points.rows * trial.dim + 1, sizeof *features);
    for (size_t i = 0; i < points.rows * trial.dim; i++)
        features[i] = (float)expected.points[points.first * trial.dim + i];
    points.data = (uint8_t *)features;
    ck_assert(km_real_center(&points, NULL, 1, MPI_COMM_WORLD, &problem));
    cluster_reals(&trial, MPI_COMM_WORLD, 1, &points, &result);
    bool same = true, near = true;
    for (size_t i = 0; i < points.rows; i++)
        same = same && result.nearest[i] == expected.nearest[points.first + i];
    for (size_t i = 0; i < trial.k * trial.dim; i++) {
        float kept = ((const float *)result.centroids)[i];
        double found = (double)km_real_feature(&points.real, i % trial.dim, kept);
        double wanted = expected.centroids[i];
        double largest = fmax(magnitude(&expected, &trial, i % trial.dim), fabs(wanted));
        near = near && fabs(found - wanted) <= 2 * 0x1p-24 * largest;
    }
    harness_assert(same, "set %d: other clusters", _i);
    harness_assert(near, "set %d: other centroids", _i);
    double wanted = expected.objective[expected.iterations - (expected.stop == KM_STOP_UNMOVED)];
    double told = km_points_objective(&points, result.objective);
    harness_assert(wanted > 0 && fabs(told - wanted) <= 1e-6 * wanted,
                   "set %d: objective %g, told as %g", _i, wanted, told);
    km_result_free(&result);
    km_real_free(&points.real);
    free(points.data);
    reference_free(&expected);
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("kmeans");
    TCase *cases = tcase_create("kmeans");
    tcase_add_loop_test(cases, same_as_reference, 0, 2 * TRIALS);
    tcase_add_loop_test(cases, reals_at_any_ranks, 0, TRIALS);
    tcase_add_test(cases, sums_of_reals);
    tcase_add_test(cases, shift_and_scale);
    tcase_add_loop_test(cases, hard_reals, 0, HARD);
    tcase_add_test(cases, rounding_is_bounded);
    tcase_add_test(cases, bad_k);
    tcase_add_test(cases, narrow_and_wide_sums);
    tcase_add_test(cases, samples_are_distinct);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 5 8", suite);
}
