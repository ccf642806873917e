/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares every kernel of the assignment with a plain 64-bit search, at sizes around every
 * boundary.
 */
#include "config.h"

#include "kmeans/assign/assign.h"
#include "kmeans/benchmark.h"
#include "kmeans/points/memory.h"
#include "tests/support/harness.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes followed by unreadable memory, so that a kernel that reads beyond the end crashes. */
typedef struct guarded {
    unsigned char *map;
    size_t map_size;
    uint8_t *bytes;
} guarded;

static guarded guarded_create(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guarded made = {.map_size = (size / page + 2) * page};
    made.map =
        mmap(NULL, made.map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(made.map, MAP_FAILED);
    ck_assert_int_eq(mprotect(made.map + made.map_size - page, page, PROT_NONE), 0);
    made.bytes = made.map + made.map_size - page - size;
    return made;
}

static void guarded_free(guarded memory) {
    ck_assert_int_eq(munmap(memory.map, memory.map_size), 0);
}

static guarded random_rows(size_t rows, size_t dim, unsigned seed) {
    guarded made = guarded_create(rows * dim);
    uint32_t state = seed;
    for (size_t i = 0; i < rows * dim; i++) {
        state = state * 1664525 + 1013904223;
        made.bytes[i] = (uint8_t)(state >> 24);
    }
    return made;
}

/* Finds the nearest centroids by their definition. */
static void search(const uint8_t *points, size_t n, size_t dim, const uint8_t *centroids, size_t k,
                   uint32_t *nearest, uint32_t *distance) {
    for (size_t i = 0; i < n; i++) {
        uint64_t best = UINT64_MAX;
        for (size_t j = 0; j < k; j++) {
            uint64_t sum = 0;
            for (size_t d = 0; d < dim; d++) {
                int64_t difference = points[i * dim + d] - centroids[j * dim + d];
                sum += (uint64_t)(difference * difference);
            }
            if (sum < best) {
                best = sum;
                nearest[i] = (uint32_t)j;
            }
        }
        ck_assert_uint_le(best, UINT32_MAX);
        distance[i] = (uint32_t)best;
    }
}

/* Checks that every kernel, with several numbers of threads, finds the centroids of search. */
static void check_all(const uint8_t *points, size_t n, size_t dim, const uint8_t *centroids,
                      size_t k) {
    static const int threads[] = {1, 2, 4};
    size_t bytes = (n + 1) * sizeof(uint32_t);
    uint32_t *wanted = malloc(bytes), *wanted_distance = malloc(bytes);
    uint32_t *nearest = malloc(bytes), *distance = malloc(bytes);
    ck_assert(wanted && wanted_distance && nearest && distance);
    search(points, n, dim, centroids, k, wanted, wanted_distance);

    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        if (!(*kernel)->supported())
            continue;
        km_centroids *packed;
        ck_assert_int_eq(km_centroids_create(centroids, k, dim, false, *kernel, 2, &packed), 0);
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            memset(nearest, 0xee, bytes);
            memset(distance, 0xee, bytes);
            ck_assert_int_eq(km_assign(points, n, dim, packed, threads[t], nearest, distance), 0);
            for (size_t i = 0; i < n; i++)
                ck_assert_msg(nearest[i] == wanted[i] && distance[i] == wanted_distance[i],
                              "%s, %d threads, n %zu, k %zu, dim %zu: point %zu has centroid %u at "
                              "%u, wanted %u at %u",
                              (*kernel)->name, threads[t], n, k, dim, i, nearest[i], distance[i],
                              wanted[i], wanted_distance[i]);
            ck_assert_uint_eq(nearest[n], 0xeeeeeeee);
            ck_assert_uint_eq(distance[n], 0xeeeeeeee);
        }
        km_centroids_free(packed);
    }
    free(wanted);
    free(wanted_distance);
    free(nearest);
    free(distance);
}

START_TEST(random_data) {
    static const size_t dims[] = {1, 3, 4, 5, 63, 64, 65, 512, 515, 2048};
    static const size_t ks[] = {1, 2, 11, 12, 13, 1000};
    static const size_t ns[] = {0, 1, 31, 32, 33, 1000};
    /* Larger cases would take minutes and test nothing new. */
    const size_t longest = harness_proves("few") ? 2100000 : 70000000;
    size_t dim = dims[_i];
    for (size_t a = 0; a < sizeof ks / sizeof *ks; a++)
        for (size_t b = 0; b < sizeof ns / sizeof *ns; b++) {
            if (ns[b] * ks[a] * dim > longest)
                continue;
            guarded points = random_rows(ns[b], dim, 1), centroids = random_rows(ks[a], dim, 2);
            check_all(points.bytes, ns[b], dim, centroids.bytes, ks[a]);
            guarded_free(points);
            guarded_free(centroids);
        }
}
END_TEST

/*
 * Tests rows of only 0 and 255, the last with both. They have the largest products, scores and
 * distances of either sign, at dimensions at which signed and unsigned 32-bit sums would overflow.
 */
START_TEST(extremes) {
    static const size_t dims[] = {1, 2, 4, 65, 16513, 32897, 32898, 33025, 33026, KM_MAX_DIM};
    size_t dim = dims[_i], rows = 4;
    guarded data = guarded_create(rows * dim);
    memset(data.bytes, 0, dim);
    memset(data.bytes + dim, 255, dim);
    for (size_t d = 0; d < dim; d++) {
        data.bytes[2 * dim + d] = d % 2 ? 0 : 255;
        data.bytes[3 * dim + d] = d % 3 ? 128 : 127;
    }
    for (size_t first = 0; first < rows; first++)
        for (size_t k = 1; k <= rows - first; k++)
            check_all(data.bytes, rows, dim, data.bytes + first * dim, k);
    guarded_free(data);
}
END_TEST

/*
 * Tests equal centroids, in one tile and in several, and different centroids that are equally near.
 */
START_TEST(ties) {
    enum { DIM = 37, KINDS = 5, COUNT = 400, POINTS = 70 };
    guarded kinds = random_rows(KINDS, DIM, 3), points = random_rows(POINTS, DIM, 4);
    guarded centroids = guarded_create(COUNT * DIM);
    for (size_t j = 0; j < COUNT; j++)
        memcpy(centroids.bytes + j * DIM, kinds.bytes + j * j % KINDS * DIM, DIM);
    check_all(points.bytes, POINTS, DIM, centroids.bytes, COUNT);
    guarded_free(kinds);
    guarded_free(points);
    guarded_free(centroids);

    const uint8_t point = 100;
    const uint8_t around[] = {110, 103, 97, 103, 90};
    uint32_t nearest, distance;
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        if (!(*kernel)->supported())
            continue;
        km_centroids *packed;
        ck_assert_int_eq(km_centroids_create(around, sizeof around, 1, false, *kernel, 2, &packed),
                         0);
        ck_assert_int_eq(km_assign(&point, 1, 1, packed, 1, &nearest, &distance), 0);
        ck_assert_uint_eq(nearest, 1);
        ck_assert_uint_eq(distance, 9);
        km_centroids_free(packed);
    }
}
END_TEST

START_TEST(distances_are_optional) {
    guarded points = random_rows(100, 20, 5), centroids = random_rows(30, 20, 6);
    uint32_t wanted[100], distance[100], nearest[100];
    search(points.bytes, 100, 20, centroids.bytes, 30, wanted, distance);
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        if (!(*kernel)->supported())
            continue;
        km_centroids *packed;
        ck_assert_int_eq(km_centroids_create(centroids.bytes, 30, 20, false, *kernel, 2, &packed),
                         0);
        memset(nearest, 0xee, sizeof nearest);
        ck_assert_int_eq(km_assign(points.bytes, 100, 20, packed, 2, nearest, NULL), 0);
        ck_assert_mem_eq(nearest, wanted, sizeof wanted);
        km_centroids_free(packed);
    }
    guarded_free(points);
    guarded_free(centroids);
}
END_TEST

START_TEST(bad_arguments) {
    const km_kernel *kernel = km_kernel_list()[0];
    const uint8_t rows[8] = {0};
    km_centroids *packed = NULL;
    ck_assert_int_eq(km_centroids_create(rows, 0, 4, false, kernel, 1, &packed), EINVAL);
    ck_assert_int_eq(km_centroids_create(rows, 2, 0, false, kernel, 1, &packed), EINVAL);
    ck_assert_int_eq(km_centroids_create(rows, 2, 4, false, kernel, 0, &packed), EINVAL);
    ck_assert_int_eq(km_centroids_create(rows, 1, KM_MAX_DIM + 1, false, kernel, 1, &packed),
                     EINVAL);
    ck_assert_int_eq(
        km_centroids_create(rows, (size_t)UINT32_MAX + 1, 1, false, kernel, 1, &packed), EINVAL);
    ck_assert_ptr_null(packed);

    uint32_t nearest[2];
    ck_assert_int_eq(km_centroids_create(rows, 2, 4, false, kernel, 1, &packed), 0);
    ck_assert_int_eq(km_assign(rows, 2, 4, packed, 0, nearest, NULL), EINVAL);
    ck_assert_int_eq(km_assign(rows, 2, 3, packed, 1, nearest, NULL), EINVAL);
    km_centroids_free(packed);
    km_centroids_free(NULL);
}
END_TEST

START_TEST(choice_of_kernel) {
    char problem[200];
    const km_kernel *fastest = NULL;
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        ck_assert_int_eq(setenv("COLL_KMEANS_KERNEL", (*kernel)->name, 1), 0);
        const km_kernel *found = km_kernel_best(problem, sizeof problem);
        ck_assert_ptr_eq(found, (*kernel)->supported() ? *kernel : NULL);
        if (!fastest)
            fastest = found;
    }
    ck_assert_int_eq(unsetenv("COLL_KMEANS_KERNEL"), 0);
    ck_assert_ptr_eq(km_kernel_best(problem, sizeof problem), fastest);
}
END_TEST

START_TEST(unknown_kernel) {
    char problem[200], little[30];
    ck_assert_int_eq(setenv("COLL_KMEANS_KERNEL", "avx3", 1), 0);
    ck_assert_ptr_null(km_kernel_best(problem, sizeof problem));
    ck_assert_ptr_nonnull(strstr(problem, "COLL_KMEANS_KERNEL=avx3"));
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++)
        ck_assert_int_eq(strstr(problem, (*kernel)->name) != NULL, (*kernel)->supported());
    ck_assert_ptr_null(km_kernel_best(little, sizeof little));
    ck_assert_uint_eq(strlen(little), sizeof little - 1);
    ck_assert_int_eq(setenv("COLL_KMEANS_KERNEL", "", 1), 0);
    ck_assert_ptr_null(km_kernel_best(problem, sizeof problem));
    ck_assert_int_eq(unsetenv("COLL_KMEANS_KERNEL"), 0);
}
END_TEST

START_TEST(measured_rates) {
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        if (!(*kernel)->supported())
            continue;
        km_rate rate = {0};
        ck_assert_int_eq(km_measure(*kernel, 2, 3000, 20, 50, 1, &rate), 0);
        ck_assert_uint_eq(rate.points, 3000);
        ck_assert(isfinite(rate.peak) && rate.peak > 0);
        ck_assert(rate.achieved > 0);
        ck_assert_int_eq(km_measure(*kernel, 0, 1, 1, 1, 1, &rate), EINVAL);
        ck_assert_int_eq(km_measure(*kernel, 1, 1, 1, 0, 1, &rate), EINVAL);
    }
    ck_assert_int_eq(km_benchmark(0, NULL), EINVAL);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("assign");
    TCase *tests = tcase_create("assign");
    tcase_add_loop_test(tests, random_data, 0, 10);
    tcase_add_loop_test(tests, extremes, 0, 10);
    tcase_add_test(tests, ties);
    tcase_add_test(tests, distances_are_optional);
    tcase_add_test(tests, bad_arguments);
    tcase_add_test(tests, choice_of_kernel);
    tcase_add_test(tests, unknown_kernel);
    tcase_add_test(tests, measured_rates);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}
