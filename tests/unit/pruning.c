/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that projections are no farther apart than the rows, and that pruning with them never
 * changes an assignment.
 */
#include "config.h"

#include "kmeans/assign/assign.h"
#include "kmeans/assign/order.h"
#include "kmeans/assign/projection.h"
#include "kmeans/assign/reorder_points.h"
#include "kmeans/points/fixed_point.h"
#include "tests/support/harness.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = 12, CENTROIDS = 1300, POINTS = 200 };

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static uint8_t to_byte(double x) {
    return x < 0 ? 0 : x > 255 ? 255 : (uint8_t)x;
}

/* Makes rows that vary in RANK directions by SPREAD, and a little in all directions. */
static uint8_t *make_rows(size_t n, size_t dim, double spread, uint32_t seed) {
    uint8_t *rows = malloc(n * dim);
    double *axes = malloc(RANK * dim * sizeof *axes);
    ck_assert(rows && axes);
    uint32_t state = 1;
    for (size_t i = 0; i < RANK * dim; i++)
        axes[i] = next_random(&state) % 2001 / 1000.0 - 1;
    state = seed;
    for (size_t i = 0; i < n; i++) {
        double part[RANK];
        for (size_t a = 0; a < RANK; a++)
            part[a] = spread * (next_random(&state) % 2001 / 1000.0 - 1);
        for (size_t d = 0; d < dim; d++) {
            double x = 110 + next_random(&state) % 9;
            for (size_t a = 0; a < RANK; a++)
                x += part[a] * axes[a * dim + d];
            rows[i * dim + d] = to_byte(x);
        }
    }
    free(axes);
    return rows;
}

/* Projects a row with the projection's own arithmetic: x.A_j instead of a kernel's products. */
static float sketch_row(const km_projection *projection, const uint8_t *row, uint8_t *bytes) {
    int32_t sums[KM_AXES + 1] = {0};
    uint32_t correction = 0;
    float error, way2;
    for (size_t j = 0; j < projection->count + 1; j++)
        for (size_t d = 0; d < projection->dim; d++)
            sums[j] += row[d] * (projection->axes[j * projection->dim + d] - 128);
    for (size_t d = 0; d < projection->dim; d++)
        correction += row[d] * (row[d] - UINT32_C(256));
    way2 = km_projection_deviation2(projection, correction, sums[projection->count]);
    km_projection_sketch(projection, sums, &way2, 1, bytes, &error);
    return error;
}

static double distance(const uint8_t *a, const uint8_t *b, size_t dim) {
    double sum = 0;
    for (size_t d = 0; d < dim; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sqrt(sum);
}

/*
 * Checks the bound that projection.h states for all pairs of N rows. Returns the greatest ratio of
 * a distance to its bound.
 */
static double check_bound(const km_projection *projection, const uint8_t *rows, size_t n) {
    size_t dim = projection->dim, size = projection->numbers;
    uint8_t *bytes = malloc(n * size);
    float *errors = malloc(n * sizeof *errors);
    double widest = 0;
    ck_assert(bytes && errors);
    for (size_t i = 0; i < n; i++)
        errors[i] = sketch_row(projection, rows + i * dim, bytes + i * size);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < i; l++) {
            double between = distance(bytes + i * size, bytes + l * size, size);
            double allowed = projection->stretch * distance(rows + i * dim, rows + l * dim, dim) +
                             errors[i] + errors[l];
            ck_assert_msg(between <= allowed, "dim %zu: rows %zu and %zu: %g > %g", dim, i, l,
                          between, allowed);
            widest = fmax(widest, between / allowed);
        }
    free(bytes);
    free(errors);
    return widest;
}

static const size_t dims[] = {KM_SKETCH_LEAST_DIM, KM_SKETCH_LEAST_DIM + 1, 515};

START_TEST(bound) {
    size_t dim = dims[_i];
    uint8_t *rows = make_rows(CENTROIDS, dim, 20, 2), *others = make_rows(100, dim, 500, 3);
    km_projection *projection;
    ck_assert_int_eq(km_projection_create(rows, CENTROIDS, dim, &projection), 0);
    ck_assert_ptr_nonnull(projection);
    ck_assert(projection->share > 0.8 && projection->share <= 1.0001);
    double widest = check_bound(projection, rows, 100);
    ck_assert_msg(widest > 0.8, "sketches keep %g of a distance at most", widest);
    check_bound(projection, others,
                100); /* rows of only 0 and 255, whose projections do not fit into bytes */
    ck_assert_ptr_nonnull(projection->coarse);
    ck_assert(projection->coarse->share > 0.8 &&
              projection->coarse->share <= projection->share + 1e-4);
    widest = check_bound(projection->coarse, rows, 100);
    ck_assert_msg(widest > 0.8, "coarse sketches keep %g of a distance at most", widest);
    check_bound(projection->coarse, others, 100);
    km_projection_free(projection);
    free(rows);
    free(others);
}
END_TEST

static double spread(const uint8_t *rows, const uint32_t *order, size_t n, size_t dim) {
    double sum = 0;
    for (size_t i = 0; i + 1 < n; i++)
        sum += distance(rows + order[i] * dim, rows + order[i + 1] * dim, dim);
    return sum / (double)(n - 1);
}

/* An order has every row once, and consecutive rows are much nearer than random ones. */
START_TEST(near_together) {
    enum { DIM = 20, LEAF = 12 };
    uint8_t *rows = make_rows(CENTROIDS, DIM, 20, 2);
    uint32_t order[CENTROIDS], none[CENTROIDS];
    bool seen[CENTROIDS] = {false};
    memset(rows + 100 * DIM, 7, 50 * DIM); /* equal rows */
    for (size_t i = 0; i < CENTROIDS; i++)
        none[i] = (uint32_t)i;
    ck_assert_int_eq(km_order(rows, CENTROIDS, DIM, LEAF, order), 0);
    for (size_t i = 0; i < CENTROIDS; i++) {
        ck_assert_uint_lt(order[i], CENTROIDS);
        ck_assert(!seen[order[i]]);
        seen[order[i]] = true;
    }
    ck_assert(spread(rows, order, CENTROIDS, DIM) < 0.8 * spread(rows, none, CENTROIDS, DIM));
    for (size_t n = 1; n < 40; n++)
        ck_assert_int_eq(km_order(rows, n, DIM, LEAF, order), 0);
    free(rows);
}
END_TEST

/* Points are sorted by region, then by distance, and keep their previous assignments. */
START_TEST(arranged) {
    enum { K = 100, N = 500 };
    uint32_t places[K], guess[N], distance[N], state = 3;
    size_t which[N];
    for (size_t j = 0; j < K; j++)
        places[j] = (uint32_t)(j * 37 % K);
    for (size_t i = 0; i < N; i++) {
        which[i] = i;
        guess[i] = i % 50 ? next_random(&state) % K : UINT32_MAX; /* no previous centroid */
        distance[i] = next_random(&state);
    }
    uint32_t before[N];
    memcpy(before, guess, sizeof guess);
    ck_assert_int_eq(km_reorder_points(places, K, N, which, guess, distance), 0);
    bool seen[N] = {false};
    size_t last = 0;
    for (size_t i = 0; i < N; i++) {
        ck_assert(!seen[which[i]]);
        seen[which[i]] = true;
        ck_assert_uint_eq(guess[i], before[which[i]]);
        size_t region = (guess[i] < K ? places[guess[i]] : K - 1) / 48;
        ck_assert_uint_ge(region, last);
        last = region;
    }
    ck_assert_int_eq(km_reorder_points(places, K, 0, which, guess, distance), 0);
}
END_TEST

/* If a projection cannot help, none is made. */
START_TEST(no_sketch) {
    enum { DIM = KM_SKETCH_LEAST_DIM };
    uint8_t *rows = calloc(CENTROIDS, DIM);
    km_projection *projection;
    uint32_t state = 5;
    ck_assert_ptr_nonnull(rows);
    ck_assert_int_eq(km_projection_create(rows, CENTROIDS, DIM, &projection),
                     0); /* all rows are equal */
    ck_assert_ptr_null(projection);
    for (size_t i = 0; i < (size_t)CENTROIDS * DIM; i++)
        rows[i] = (uint8_t)next_random(&state);
    ck_assert_int_eq(km_projection_create(rows, CENTROIDS, DIM - 1, &projection), 0);
    ck_assert_ptr_null(projection);
    ck_assert_int_eq(km_projection_create(rows, 1000, DIM, &projection), 0);
    ck_assert_ptr_null(projection);
    free(rows);
}
END_TEST

static void arrange(const km_centroids *centroids, size_t *which, uint32_t *guess,
                    const uint32_t *distance) {
    const uint32_t *places = km_centroids_positions(centroids);
    ck_assert_int_eq(km_reorder_points(places, CENTROIDS, POINTS, which, guess, distance), 0);
}

/*
 * Checks that pruning does not change the assignment: with a projection of other rows, or with none
 * if SKETCH is NULL.
 */
static void check_same(const km_kernel *kernel, const uint8_t *points, const uint8_t *centroids,
                       const km_projection *projection, size_t dim) {
    uint32_t wanted[POINTS], wanted_distance[POINTS], found[POINTS], found_distance[POINTS];
    km_centroids *packed;
    ck_assert_int_eq(km_centroids_create(centroids, CENTROIDS, dim, false, kernel, 2, &packed), 0);
    ck_assert_int_eq(km_assign(points, POINTS, dim, packed, 1, wanted, wanted_distance), 0);
    ck_assert_int_eq(km_centroids_prune(packed, centroids, projection, 2), 0);
    for (int threads = harness_proves("few") ? 3 : 1; threads <= 3; threads++) {
        ck_assert_int_eq(km_assign(points, POINTS, dim, packed, threads, found, found_distance), 0);
        ck_assert_mem_eq(found, wanted, sizeof wanted);
        ck_assert_mem_eq(found_distance, wanted_distance, sizeof wanted);
    }
    /*
     * Previous assignments that are right, wrong or missing, in place; projections that are made,
     * kept, or partly missing.
     */
    km_sketch_cache kept;
    ck_assert(km_sketch_cache_create(POINTS, projection, &kept));
    for (int round = 0; round < 5; round++) {
        size_t which[POINTS];
        const km_query query = {points, dim, which, 0, POINTS, round ? &kept : NULL};
        for (size_t i = 0; i < POINTS; i++) {
            which[i] = i;
            found[i] = i % 3 == 0 ? wanted[i] : i % 3 == 1 ? (uint32_t)i : UINT32_MAX - (uint32_t)i;
        }
        for (int again = 0; round == 4 && again < 2; again++) {
            ck_assert_int_eq(km_guess(&query, packed, 2, again, found, found_distance), 0);
            arrange(packed, which, found, found_distance);
        }
        if (round == 2)
            arrange(packed, which, found, wanted_distance);
        ck_assert_int_eq(km_assign_query(&query, packed, 2, found, found, found_distance), 0);
        size_t sketches = 0; /* counts the projections that exist */
        for (size_t i = 0; i < POINTS; i++) {
            ck_assert_uint_eq(found[i], wanted[which[i]]);
            ck_assert_uint_eq(found_distance[i], wanted_distance[which[i]]);
            sketches += round && kept.errors[0][i] >= 0;
        }
        ck_assert((sketches > 0) == (round > 0));
        for (size_t i = 50; round == 2 && i < 60; i++)
            kept.errors[0][i] = -1;
    }
    km_sketch_cache_free(&kept);
    km_centroids_free(packed);
}

/* Returns whether to test the kernel that AT points to in the list. Sanitizers make the last one,
 * scalar, very slow; tests/unit/assign tests it under them. */
static bool is_tested(const km_kernel *const *at) {
    return (*at)->supported() && (at[1] || !harness_proves("few"));
}

/*
 * Tests rows like those of the projection, with equal ones among them, rows that are far away, and
 * random rows.
 */
START_TEST(same_answers) {
    size_t dim = dims[_i];
    uint8_t *centroids = make_rows(CENTROIDS, dim, 20, 2), *points = make_rows(POINTS, dim, 20, 3);
    uint8_t *far = make_rows(CENTROIDS, dim, 500, 4), *noise = malloc(CENTROIDS * dim);
    uint32_t state = 5;
    km_projection *projection;
    ck_assert_ptr_nonnull(noise);
    for (size_t i = 0; i < CENTROIDS * dim; i++)
        noise[i] = (uint8_t)next_random(&state);
    for (size_t j = 700; j < 720; j++)
        memcpy(centroids + j * dim, centroids + (j - 699) * dim, dim);
    memcpy(points, centroids, 30 * dim);
    ck_assert_int_eq(km_projection_create(centroids, CENTROIDS, dim, &projection), 0);
    ck_assert_ptr_nonnull(projection);
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        if (!is_tested(kernel))
            continue;
        check_same(*kernel, points, centroids, projection, dim);
        check_same(*kernel, points, far, projection, dim);
        check_same(*kernel, far, centroids, projection, dim);
        check_same(*kernel, points, noise, projection, dim);
    }
    km_projection_free(projection);
    free(noise);
    free(far);
    free(points);
    free(centroids);
}
END_TEST

/* Makes float centroids near the first planes of ROWS. Two thirds of them are whole numbers. */
static uint8_t *make_planes(const uint8_t *rows, size_t dim, uint32_t seed) {
    uint8_t *planes = malloc(KM_PLANES * CENTROIDS * dim);
    uint32_t state = seed;
    ck_assert_ptr_nonnull(planes);
    memcpy(planes, rows, CENTROIDS * dim);
    for (size_t j = 0; j < CENTROIDS; j++) {
        km_planes_clear_fractions(planes, CENTROIDS, dim, j);
        for (size_t d = 0; j % 3 && d < dim; d++)
            km_planes_set(planes, CENTROIDS * dim, j * dim + d,
                          fmin(rows[j * dim + d] + next_random(&state) % 1000 / 1000.0, 255));
    }
    return planes;
}

/* The assignment to float centroids by plain sums. */
typedef struct fine_answer {
    uint32_t nearest[POINTS], distance[POINTS];
} fine_answer;

static void answer(const uint8_t *points, const km_planes *of, fine_answer *wanted) {
    for (size_t i = 0; i < POINTS; i++) {
        uint64_t least = UINT64_MAX;
        for (size_t j = 0; j < of->k; j++) {
            uint64_t distance2 = km_planes_distance2(of, j, points + i * of->dim);
            if (distance2 < least) {
                wanted->nearest[i] = (uint32_t)j;
                least = distance2;
            }
        }
        wanted->distance[i] = km_fixed_point_bits(least);
    }
}

/* Checks that km_assign gives the same assignment, with all kinds of previous assignments. */
static void check_fine(const km_kernel *kernel, const uint8_t *points, const km_planes *of,
                       const km_projection *projection, const fine_answer *wanted) {
    fine_answer found;
    uint32_t *nearest = found.nearest;
    km_centroids *packed;
    ck_assert_int_eq(km_centroids_create(of->data, of->k, of->dim, false, kernel, 2, &packed), 0);
    ck_assert_int_eq(km_centroids_use_fixed_point(packed, of->data, 2), 0);
    if (projection)
        ck_assert_int_eq(km_centroids_prune(packed, of->data, projection, 2), 0);
    for (int threads = 1; threads <= 2; threads++) {
        ck_assert_int_eq(
            km_assign(points, POINTS, of->dim, packed, threads, nearest, found.distance), 0);
        ck_assert_mem_eq(&found, wanted, sizeof found);
    }
    for (size_t i = 0; i < POINTS; i++)
        nearest[i] = i % 3 == 0   ? wanted->nearest[i]
                     : i % 3 == 1 ? (uint32_t)i
                                  : UINT32_MAX - (uint32_t)i;
    size_t which[POINTS];
    for (size_t i = 0; i < POINTS; i++)
        which[i] = i;
    const km_query query = {points, of->dim, which, 0, POINTS, NULL};
    ck_assert_int_eq(km_assign_query(&query, packed, 2, nearest, nearest, found.distance), 0);
    ck_assert_mem_eq(&found, wanted, sizeof found);
    km_centroids_free(packed);
}

/* Tests float centroids, including equal ones and ones that differ only in the last digit. */
START_TEST(fine_answers) {
    size_t dim = dims[_i];
    uint8_t *rows = make_rows(CENTROIDS, dim, 20, 2), *points = make_rows(POINTS, dim, 20, 3);
    for (size_t j = 700; j < 720; j++)
        memcpy(rows + j * dim, rows + (j - 699) * dim, dim);
    memcpy(points, rows, 30 * dim);
    uint8_t *planes = make_planes(rows, dim, 7);
    for (size_t j = 800; j < 810; j++)
        for (size_t plane = 0; plane < KM_PLANES; plane++)
            memcpy(planes + (plane * CENTROIDS + j) * dim,
                   planes + (plane * CENTROIDS + j - 780) * dim, dim);
    for (size_t j = 805; j < 810; j++)
        planes[(2 * CENTROIDS + j) * dim] ^= 1;
    const km_planes of = {planes, CENTROIDS, dim};
    fine_answer wanted;
    answer(points, &of, &wanted);
    km_projection *projection;
    ck_assert_int_eq(km_projection_create(rows, CENTROIDS, dim, &projection), 0);
    ck_assert_ptr_nonnull(projection);
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        if (!is_tested(kernel))
            continue;
        check_fine(*kernel, points, &of, NULL, &wanted);
        check_fine(*kernel, points, &of, projection, &wanted);
    }
    km_projection_free(projection);
    free(planes);
    free(points);
    free(rows);
}
END_TEST

/*
 * A point is half-way between two centroids. The last digit decides; if all are equal, the number
 * does.
 */
START_TEST(fine_ties) {
    static const double values[] = {10.5, 9.5, 10.5, 9.5 + 1.0 / 65536, 255, 0};
    enum { K = sizeof values / sizeof *values };
    uint8_t planes[KM_PLANES * K], points[POINTS];
    const km_planes of = {planes, K, 1};
    fine_answer wanted;
    float value;
    for (size_t i = 0; i < POINTS; i++)
        points[i] = (uint8_t)(i < 100 ? 10 : i);
    for (size_t j = 0; j < K; j++) {
        km_planes_set(planes, K, j, values[j]);
        km_planes_get(&of, j, &value);
        ck_assert((double)value == values[j]);
    }
    answer(points, &of, &wanted);
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++)
        if ((*kernel)->supported())
            check_fine(*kernel, points, &of, NULL, &wanted);
}
END_TEST

START_TEST(bad_arguments) {
    enum { DIM = KM_SKETCH_LEAST_DIM };
    uint8_t *rows = make_rows(CENTROIDS, DIM, 20, 2);
    const km_kernel *kernel = km_kernel_best(NULL, 0);
    km_projection *projection;
    km_centroids *packed;
    ck_assert_int_eq(km_projection_create(rows, CENTROIDS, DIM, &projection), 0);
    ck_assert_int_eq(km_centroids_create(rows, 10, DIM / 2, false, kernel, 1, &packed), 0);
    ck_assert_int_eq(km_centroids_prune(packed, rows, projection, 1), EINVAL);
    km_centroids_free(packed);
    ck_assert_int_eq(km_centroids_create(rows, 10, DIM, false, kernel, 1, &packed), 0);
    ck_assert_int_eq(km_centroids_prune(packed, rows, projection, 0), EINVAL);
    ck_assert_int_eq(km_centroids_use_fixed_point(packed, rows, 0), EINVAL);
    km_centroids_free(packed);
    km_projection_free(projection);
    free(rows);
}
END_TEST

int main(void) {
    const int first = harness_proves("few") ? 1 : 0;
    Suite *suite = suite_create("pruning");
    TCase *tests = tcase_create("pruning");
    tcase_add_loop_test(tests, bound, 0, sizeof dims / sizeof *dims);
    tcase_add_test(tests, near_together);
    tcase_add_test(tests, arranged);
    tcase_add_test(tests, no_sketch);
    tcase_add_loop_test(tests, same_answers, first, sizeof dims / sizeof *dims);
    tcase_add_loop_test(tests, fine_answers, first, sizeof dims / sizeof *dims);
    tcase_add_test(tests, fine_ties);
    tcase_add_test(tests, bad_arguments);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}
