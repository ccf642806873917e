/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the assignment of float32 features with a search in double precision, for every kernel,
 * on random rows and on rows that are hard to quantise.
 */
#include "config.h"

#include "kmeans/assign/assign.h"
#include "kmeans/points/memory.h"
#include "kmeans/points/real.h"
#include "tests/support/harness.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t state;

static double uniform(void) {
    state = state * 1664525 + 1013904223;
    return (double)(state >> 8) / (1 << 24);
}

/* About normally distributed, with variance 1. */
static double normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum;
}

typedef float feature(size_t row, size_t column);

static float plain(size_t row, size_t column) {
    (void)row, (void)column;
    return (float)normal();
}

static float far_from_zero(size_t row, size_t column) {
    (void)row, (void)column;
    return (float)(1000 + normal());
}

/* Each row has its own scale, from 1e-30 to 1e30. */
static float scaled_rows(size_t row, size_t column) {
    (void)column;
    return (float)(normal() * pow(10, (double)(row * 7 % 61) - 30));
}

static float scaled_features(size_t row, size_t column) {
    (void)row, (void)column;
    return (float)(normal() * pow(10, 60 * uniform() - 30));
}

/* Few different rows, and many pairs of equal distances. */
static float few_values(size_t row, size_t column) {
    (void)row, (void)column;
    return uniform() < 0.1 ? 1 : 0;
}

/* Every third row is zero, and every other column is constant. */
static float zeros(size_t row, size_t column) {
    return column % 2 ? 12345.678F : row % 3 ? (float)normal() : 0;
}

static float denormal(size_t row, size_t column) {
    (void)row, (void)column;
    return (float)(normal() * 1e-42);
}

static float around_denormal(size_t row, size_t column) {
    return row % 2 ? denormal(row, column) : (float)(normal() * 1e-37);
}

/* One column outweighs all others, which still decide where it is constant. */
static float outlier_column(size_t row, size_t column) {
    return column ? (float)normal() : row % 2 ? 1e6F : -1e6F;
}

static float outlier_row(size_t row, size_t column) {
    (void)column;
    return row % 17 == 5 ? (float)(1e15 * normal()) : (float)normal();
}

static float sparse(size_t row, size_t column) {
    (void)row, (void)column;
    return uniform() < 0.02 ? (float)(100 * normal()) : 0;
}

/* Distances overflow float32. */
static float huge(size_t row, size_t column) {
    return (row + column) % 5 ? (float)normal() : copysignf(FLT_MAX, (float)normal());
}

static const struct {
    const char *name;
    feature *feature;
} kinds[] = {{"plain", plain},
             {"far from zero", far_from_zero},
             {"scaled rows", scaled_rows},
             {"scaled features", scaled_features},
             {"few values", few_values},
             {"zeros", zeros},
             {"denormal", denormal},
             {"around denormal", around_denormal},
             {"outlier column", outlier_column},
             {"outlier row", outlier_row},
             {"sparse", sparse},
             {"huge", huge}};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* The rows of a test, and the results of a search in double precision. */
typedef struct problem {
    const char *name;
    size_t n, k, dim;
    float *points, *centroids;
    uint32_t *nearest, *distance;
} problem;

static void search(problem *this) {
    for (size_t i = 0; i < this->n; i++) {
        double best = INFINITY;
        for (size_t j = 0; j < this->k; j++) {
            double distance = km_real_distance2(this->points + i * this->dim,
                                                this->centroids + j * this->dim, this->dim);
            if (distance < best) {
                best = distance;
                this->nearest[i] = (uint32_t)j;
            }
        }
        this->distance[i] = km_real_bits(best);
    }
}

/* Centroids are rows like the points, some points themselves, and means of two points. */
static problem make_problem(size_t kind, size_t n, size_t k, size_t dim) {
    problem made = {.name = kinds[kind].name, .n = n, .k = k, .dim = dim};
    state = (uint32_t)(kind * 1000003 + n * 1009 + k * 101 + dim);
    made.points = malloc((n * dim + 1) * sizeof(float));
    made.centroids = malloc(k * dim * sizeof(float));
    made.nearest = malloc((n + 1) * sizeof(uint32_t));
    made.distance = malloc((n + 1) * sizeof(uint32_t));
    ck_assert(made.points && made.centroids && made.nearest && made.distance);
    for (size_t i = 0; i < n * dim; i++)
        made.points[i] = kinds[kind].feature(i / dim, i % dim);
    for (size_t j = 0; j < k; j++)
        for (size_t d = 0; d < dim; d++) {
            float *to = made.centroids + j * dim + d;
            const float *from = made.points + j % n * dim + d, *other = made.points + d;
            *to = j % 3 == 0   ? kinds[kind].feature(j, d)
                  : j % 3 == 1 ? *from
                               : (float)(((double)*from + (double)*other) / 2);
        }
    search(&made);
    return made;
}

static void free_problem(problem *this) {
    free(this->points);
    free(this->centroids);
    free(this->nearest);
    free(this->distance);
}

static void check_result(const problem *this, const km_kernel *kernel, const char *how,
                         const uint32_t *nearest, const uint32_t *distance) {
    for (size_t i = 0; i < this->n; i++)
        ck_assert_msg(nearest[i] == this->nearest[i] && distance[i] == this->distance[i],
                      "%s, %s, %s, n %zu, k %zu, dim %zu: point %zu has centroid %u, wanted %u",
                      this->name, kernel->name, how, this->n, this->k, this->dim, i, nearest[i],
                      this->nearest[i]);
}

/* Assigns all points, in one call, with threads, with guesses, and in another order. */
static void check_kernel(const problem *this, const km_kernel *kernel) {
    uint32_t *nearest = malloc((this->n + 1) * sizeof *nearest);
    uint32_t *distance = malloc((this->n + 1) * sizeof *distance);
    size_t *which = malloc((this->n + 1) * sizeof *which);
    km_centroids *packed;
    km_query query = {(const uint8_t *)this->points, this->dim, NULL, 0, this->n, NULL};
    ck_assert(nearest && distance && which);
    ck_assert_int_eq(km_centroids_create((const uint8_t *)this->centroids, this->k, this->dim, true,
                                         kernel, 2, &packed),
                     0);
    ck_assert_int_eq(km_assign(query.rows, this->n, this->dim, packed, 1, nearest, distance), 0);
    check_result(this, kernel, "one thread", nearest, distance);
    for (size_t i = 0; i < this->n; i++)
        nearest[i] = i % 3 ? (uint32_t)(i % this->k) : UINT32_MAX;
    ck_assert_int_eq(km_assign_query(&query, packed, 3, nearest, nearest, distance), 0);
    check_result(this, kernel, "guesses and three threads", nearest, distance);
    for (size_t i = 0; i < this->n; i++)
        which[i] = this->n - 1 - i;
    query.which = which;
    ck_assert_int_eq(km_assign_query(&query, packed, 2, NULL, nearest, distance), 0);
    for (size_t i = 0; i < this->n; i++)
        ck_assert_uint_eq(nearest[i], this->nearest[this->n - 1 - i]);
    km_centroids_free(packed);
    free(nearest);
    free(distance);
    free(which);
}

static void check_all(size_t kind, size_t n, size_t k, size_t dim) {
    problem all = make_problem(kind, n, k, dim);
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++)
        if ((*kernel)->supported())
            check_kernel(&all, *kernel);
    free_problem(&all);
}

START_TEST(all_kinds) {
    static const size_t dims[] = {1, 2, 3, 7, 15, 16, 17, 33, 100, 129, 515, 1000};
    static const size_t ks[] = {1, 2, 6, 7, 49, 300};
    static const size_t ns[] = {1, 15, 33, 200};
    size_t kind = (size_t)_i;
    for (size_t a = 0; a < sizeof dims / sizeof *dims; a++)
        for (size_t b = 0; b < sizeof ks / sizeof *ks; b++)
            for (size_t c = 0; c < sizeof ns / sizeof *ns; c++)
                if (dims[a] * ks[b] * ns[c] < 600000 &&
                    (!harness_proves("few") || (kind + a + b + c) % 3 == 0))
                    check_all(kind, ns[c], ks[b], dims[a]);
}
END_TEST

/* Centroids that don't fit the cache together, and more pairs left than are listed at a time. */
START_TEST(many_centroids) {
    check_all(0, 100, 9000, 40);
    check_all(4, 100, 3000, 20);
    check_all(8, 40, 5000, 3);
}
END_TEST

/* Rows as long as possible, with the largest codes of the same sign. */
START_TEST(longest_rows) {
    check_all(0, 5, 3, KM_MAX_DIM);
    check_all(4, 5, 3, KM_MAX_DIM);
}
END_TEST

/* Of equally near centroids, the lowest is nearest, wherever the order puts them. */
START_TEST(ties) {
    enum { DIM = 3, K = 400 };
    float centroids[K * DIM], point[DIM] = {0, 0, 0};
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        if (!(*kernel)->supported())
            continue;
        for (size_t first = 0; first < K; first += 57) {
            uint32_t nearest, distance;
            km_centroids *packed;
            for (size_t j = 0; j < K; j++) {
                memset(centroids + j * DIM, 0, DIM * sizeof *centroids);
                centroids[j * DIM + j % DIM] = j < first ? 2 : j % 2 ? 1 : -1;
            }
            ck_assert_int_eq(
                km_centroids_create((uint8_t *)centroids, K, DIM, true, *kernel, 1, &packed), 0);
            ck_assert_int_eq(km_assign((uint8_t *)point, 1, DIM, packed, 1, &nearest, &distance),
                             0);
            ck_assert_uint_eq(nearest, first);
            ck_assert_double_eq(km_real_value(distance), 1);
            km_centroids_free(packed);
        }
    }
}
END_TEST

/* Moves a third of the centroids a little, a few far, and leaves the others. */
static void move_centroids(problem *this, size_t step) {
    for (size_t j = 0; j < this->k; j++)
        for (size_t d = 0; d < this->dim; d++) {
            float *to = this->centroids + j * this->dim + d;
            if (j % 61 == step)
                *to = this->points[(j + step) % this->n * this->dim + d];
            else if (j % 3 == step % 3 && fabsf(*to) < FLT_MAX / 2)
                *to *= 1 + (float)uniform() / 64;
        }
    search(this);
}

/*
 * Assigns all points, in two queries and in another order, to the moved centroids, with CACHE, or
 * without one if that is NULL. Returns the number of groups that need not be compared with all
 * points.
 */
static size_t assign_with_bounds(const problem *this, const km_kernel *kernel,
                                 km_group_bounds *bounds, km_code_cache *cache, uint32_t *nearest,
                                 uint32_t *distance) {
    const size_t half = this->n / 2;
    size_t *which = malloc(this->n * sizeof *which), used = 0;
    uint32_t *found = malloc(this->n * sizeof *found), *far = malloc(this->n * sizeof *far);
    km_centroids *packed;
    const uint8_t *rows = (const uint8_t *)this->centroids;
    ck_assert(which && found && far);
    ck_assert_int_eq(km_centroids_create(rows, this->k, this->dim, true, kernel, 2, &packed), 0);
    const bool bounded = km_group_bounds_begin(bounds, this->centroids, distance);
    for (size_t group = 0; bounded && group < bounds->groups; group++)
        used += !bounds->whole[group];
    if (bounded || cache)
        ck_assert_int_eq(km_centroids_use_caches(packed, rows, bounded ? bounds : NULL, cache, 2),
                         0);
    for (size_t i = 0; i < this->n; i++) {
        which[i] = this->n - 1 - i;
        found[i] = nearest[which[i]];
    }
    for (size_t first = 0; first < this->n; first += half) {
        const km_query query = {(const uint8_t *)this->points,  this->dim, which + first, 0,
                                first ? this->n - first : half, NULL};
        ck_assert_int_eq(
            km_assign_query(&query, packed, 2, found + first, found + first, far + first), 0);
        if (first)
            break;
    }
    for (size_t i = 0; i < this->n; i++) {
        nearest[which[i]] = found[i];
        distance[which[i]] = far[i];
    }
    km_centroids_free(packed);
    free(which);
    free(found);
    free(far);
    return used;
}

/*
 * Bounds that are kept from one assignment to the next, and if CACHED codes, leave the result as it
 * is.
 */
static void check_bounds(size_t kind, const km_kernel *kernel, bool cached, size_t n, size_t k,
                         size_t dim) {
    enum { STEPS = 9 };
    problem all = make_problem(kind, n, k, dim);
    uint32_t *nearest = malloc(n * sizeof *nearest), *distance = calloc(n, sizeof *distance);
    km_group_bounds bounds;
    km_code_cache cache;
    size_t used = 0;
    ck_assert(nearest && distance);
    memset(nearest, 0xff, n * sizeof *nearest);
    km_group_bounds_create(n, k, dim, &bounds);
    ck_assert(km_code_cache_create(all.points, n, dim, &cache));
    for (size_t step = 0; step < STEPS; step++) {
        used +=
            assign_with_bounds(&all, kernel, &bounds, cached ? &cache : NULL, nearest, distance);
        check_result(&all, kernel, "bounds", nearest, distance);
        move_centroids(&all, step);
    }
    ck_assert_msg(kind || used, "%s: no bound was used", kernel->name);
    for (size_t i = 0; cached && i < n; i++)
        ck_assert_msg(cache.sizes[i].scale > 0, "%s: point %zu has no codes", kernel->name, i);
    km_group_bounds_free(&bounds);
    km_code_cache_free(&cache);
    free(nearest);
    free(distance);
    free_problem(&all);
}

START_TEST(bounds_of_groups) {
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        if (!(*kernel)->supported())
            continue;
        check_bounds((size_t)_i, *kernel, false, 300, 200, 20);
        check_bounds((size_t)_i, *kernel, true, 300, 200, 20);
        check_bounds((size_t)_i, *kernel, true, 2, 390, 3);
        check_bounds((size_t)_i, *kernel, true, 500, 1030, 5);
    }
}
END_TEST

/* Without bounds, too, codes are kept. */
START_TEST(cached_codes) {
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        if (!(*kernel)->supported())
            continue;
        problem all = make_problem((size_t)_i, 300, 20, 33);
        km_code_cache cache;
        uint32_t nearest[300], distance[300];
        memset(nearest, 0xff, sizeof nearest);
        ck_assert(km_code_cache_create(all.points, all.n, all.dim, &cache));
        for (size_t step = 0; step < 4; step++) {
            km_group_bounds none;
            km_group_bounds_create(all.n, all.k, all.dim, &none); /* too few centroids for bounds */
            assign_with_bounds(&all, *kernel, &none, &cache, nearest, distance);
            check_result(&all, *kernel, "cached codes", nearest, distance);
            move_centroids(&all, step);
            km_group_bounds_free(&none);
        }
        km_code_cache_free(&cache);
        free_problem(&all);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("quantised");
    TCase *tests = tcase_create("quantised");
    tcase_add_loop_test(tests, all_kinds, 0, KINDS);
    tcase_add_loop_test(tests, bounds_of_groups, 0, KINDS);
    tcase_add_loop_test(tests, cached_codes, 0, KINDS);
    tcase_add_test(tests, many_centroids);
    tcase_add_test(tests, longest_rows);
    tcase_add_test(tests, ties);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}
