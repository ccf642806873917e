/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests each kernel of this processor function by function, by its definition (kernel.h). Needs
 * nothing but the kernels, so that tests/cli/kernels_arm.sh can compile it for other processors.
 */
#include "kmeans/assign/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_POINTS = 32,
    MOST_CENTROIDS = 16,
    MOST_PAIRS = MOST_POINTS * MOST_CENTROIDS,
    LINE = 64
};

static const size_t dims[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 68, 100, 512, 65793};

/* A panel of points, a panel of centroids, and the rows in them. */
typedef struct tile_data {
    const km_kernel *kernel;
    size_t dim, groups, points, centroids; /* points and centroids in the panels */
    uint8_t *x, *c;
    void *point_panel, *centroid_panel;
    uint32_t corrections[MOST_POINTS], norms[MOST_CENTROIDS];
} tile_data;

/* Allocates memory like km_allocate. Ends the test if there is none. */
static void *allocate(size_t size) {
    void *memory = aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);
    if (!memory)
        abort();
    return memset(memory, 0xee, size);
}

static uint8_t next_byte(void) {
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (uint8_t)(state >> 24);
}

/* Makes random bytes; if EXTREME only 0 and 255, which give the greatest sums. */
static uint8_t *make_rows(size_t bytes, bool extreme) {
    uint8_t *rows = allocate(bytes);
    for (size_t i = 0; i < bytes; i++)
        rows[i] = (uint8_t)(extreme ? (next_byte() % 8 ? 255 : 0) : next_byte());
    return rows;
}

static tile_data make(const km_kernel *kernel, size_t dim, size_t points, size_t centroids,
                      bool extreme) {
    tile_data made = {.kernel = kernel, .dim = dim, .points = points, .centroids = centroids};
    made.groups = (dim + kernel->group - 1) / kernel->group;
    size_t bytes = made.groups * kernel->group * kernel->element;
    made.x = make_rows(points * dim, extreme);
    made.c = make_rows(centroids * dim, extreme);
    made.point_panel = allocate(bytes * kernel->points);
    made.centroid_panel = allocate(bytes * kernel->centroids);
    kernel->pack(made.x, points, dim, made.point_panel, made.corrections);
    kernel->pack_centroids(kernel, made.c, centroids, dim, made.centroid_panel, made.norms);
    return made;
}

static void clear(tile_data *data) {
    free(data->x);
    free(data->c);
    free(data->point_panel);
    free(data->centroid_panel);
}

/* Returns x.(c - 128) modulo 2^32. */
static uint32_t product_of(const tile_data *data, size_t i, size_t j) {
    uint32_t sum = 0;
    for (size_t d = 0; d < data->dim; d++)
        sum += data->x[i * data->dim + d] * (data->c[j * data->dim + d] - UINT32_C(128));
    return sum;
}

static uint32_t score_of(const tile_data *data, size_t i, size_t j) {
    uint32_t norm = 0;
    for (size_t d = 0; d < data->dim; d++)
        norm += data->c[j * data->dim + d] * (uint32_t)data->c[j * data->dim + d];
    return norm - 2 * product_of(data, i, j);
}

static bool corrections_are_right(const tile_data *data) {
    for (size_t i = 0; i < data->points; i++) {
        uint32_t sum = 0;
        for (size_t d = 0; d < data->dim; d++) {
            uint32_t x = data->x[i * data->dim + d];
            sum += x * (x - 256);
        }
        if (data->corrections[i] != sum)
            return false;
    }
    return true;
}

static bool multiply_is_right(const tile_data *data) {
    int32_t *sums = allocate(MOST_PAIRS * sizeof *sums);
    bool good = true;
    data->kernel->multiply(data->point_panel, data->centroid_panel, data->groups, sums);
    for (size_t i = 0; i < data->points; i++)
        for (size_t j = 0; j < data->centroids; j++)
            good = good && (uint32_t)sums[j * data->kernel->points + i] == product_of(data, i, j);
    free(sums);
    return good;
}

/* Checks the least of the scores from START on, and the first centroid that has it. */
static bool tile_is_right(const tile_data *data, uint32_t start) {
    enum { FIRST = 1000, NONE = 7 };
    uint32_t best[MOST_POINTS], nearest[MOST_POINTS];
    for (size_t i = 0; i < MOST_POINTS; i++) {
        best[i] = start;
        nearest[i] = NONE;
    }
    data->kernel->tile(data->point_panel, data->corrections, data->centroid_panel, data->norms,
                       data->groups, FIRST, best, nearest);
    for (size_t i = 0; i < data->points; i++) {
        uint32_t least = start, number = NONE;
        for (size_t j = 0; j < data->centroids; j++)
            if (score_of(data, i, j) < least) {
                least = score_of(data, i, j);
                number = FIRST + (uint32_t)j;
            }
        if (best[i] != least || nearest[i] != number)
            return false;
    }
    return true;
}

/* Returns floors that are reached, just missed, always reached and never reached. */
static int32_t make_floor(const tile_data *data, size_t i, const int32_t *starts) {
    size_t j = i % data->centroids;
    int32_t score = (int32_t)product_of(data, i, j) + starts[j];
    return i % 4 == 0 ? INT32_MIN : i % 4 == 1 ? score : i % 4 == 2 ? score + 1 : INT32_MAX;
}

static bool sift_is_right(const tile_data *data) {
    int32_t floors[MOST_POINTS], starts[MOST_CENTROIDS];
    km_pair *pairs = allocate((MOST_PAIRS + KM_SPARE) * sizeof *pairs);
    size_t wanted = 0;
    for (size_t j = 0; j < MOST_CENTROIDS; j++)
        starts[j] = (int32_t)j * 10 - 50;
    for (size_t i = 0; i < MOST_POINTS; i++)
        floors[i] = i < data->points ? make_floor(data, i, starts) : INT32_MAX;
    size_t found = data->kernel->find_candidates(data->point_panel, data->centroid_panel, starts,
                                                 data->groups, floors, pairs);
    bool good = true;
    for (size_t j = 0; j < data->centroids; j++)
        for (size_t i = 0; i < data->points; i++)
            if ((int32_t)product_of(data, i, j) + starts[j] >= floors[i]) {
                good = good && wanted < found && pairs[wanted].point == i &&
                       pairs[wanted].centroid == j;
                wanted++;
            }
    /* The zeros at the end of a panel may be listed after the real centroids. */
    for (size_t l = wanted; l < found; l++)
        good = good && pairs[l].centroid >= data->centroids;
    free(pairs);
    return good && wanted <= found;
}

static bool multiply_rows_is_right(const tile_data *data) {
    enum { PAIRS = 37 };
    const uint8_t *points[PAIRS], *centroids[PAIRS];
    int32_t products[PAIRS + KM_SPARE];
    for (size_t l = 0; l < PAIRS; l++) {
        points[l] = data->x + l * 5 % data->points * data->dim;
        centroids[l] = data->c + l % data->centroids * data->dim;
    }
    data->kernel->multiply_rows(points, centroids, data->dim, PAIRS, products);
    for (size_t l = 0; l < PAIRS; l++)
        if ((uint32_t)products[l] != product_of(data, l * 5 % data->points, l % data->centroids))
            return false;
    return true;
}

/* Tests a tile with DIM dimensions, POINTS points and CENTROIDS centroids. */
static bool check_tile(const km_kernel *kernel, size_t dim, size_t points, size_t centroids,
                       bool extreme) {
    tile_data data = make(kernel, dim, points, centroids, extreme);
    const char *wrong = !corrections_are_right(&data)                      ? "corrections"
                        : !multiply_is_right(&data)                        ? "multiply"
                        : !tile_is_right(&data, KM_NO_SCORE)               ? "tile"
                        : !tile_is_right(&data, score_of(&data, 0, 0))     ? "tile, from a score on"
                        : !multiply_rows_is_right(&data)                   ? "multiply_rows"
                        : dim < 10000 && !extreme && !sift_is_right(&data) ? "sift"
                                                                           : NULL;
    if (wrong)
        printf("%s: %s is wrong: %zu dimensions, %zu points, %zu centroids\n", kernel->name, wrong,
               dim, points, centroids);
    clear(&data);
    return !wrong;
}

static bool check(const km_kernel *kernel) {
    bool good = kernel->points <= MOST_POINTS && kernel->centroids <= MOST_CENTROIDS;
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (int extreme = 0; extreme < 2; extreme++) {
            good = good && check_tile(kernel, dims[d], kernel->points, kernel->centroids, extreme);
            good = good && check_tile(kernel, dims[d], 1, 1, extreme);
            good = good && check_tile(kernel, dims[d], (kernel->points + 1) / 2,
                                      kernel->centroids - 1, extreme);
        }
    return good && kernel->burn(10) > 0;
}

int main(void) {
    char problem[256];
    bool good = true;
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        bool supported = (*kernel)->supported();
        bool right = !supported || check(*kernel);
        printf("%s: %s\n", (*kernel)->name,
               !supported ? "not on this processor"
               : right    ? "all as it should be"
                          : "FAILED");
        good = good && right;
    }
    const km_kernel *best = km_kernel_best(problem, sizeof problem);
    printf("best: %s\n", best ? best->name : problem);
    return good && best ? EXIT_SUCCESS : EXIT_FAILURE;
}
