/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests initial centroids: they are the same for any number of ranks and threads, and there is one
 * in every group of points if there are as many groups as centroids.
 */
#include "config.h"

#include "kmeans/init/draw.h"
#include "kmeans/init/init.h"
#include "kmeans/points/random.h"
#include "tests/support/harness.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static const char *const methods[] = {
    "random",  "k-means++",       "k-means||",       "k-means||:rounds=2", "k-means||:memory=70",
    "afk-mc2", "afk-mc2:chain=1", "afk-mc2:chain=7",
};
enum { METHODS = sizeof methods / sizeof *methods, DIM = 6, SEED = 11 };

/* Makes the features real, some of them below 0. */
static void make_real(km_points *points, MPI_Comm comm) {
    size_t count = points->rows * DIM;
    float *features = malloc((count + 1) * sizeof *features);
    app_problem problem = {""};
    ck_assert_ptr_nonnull(features);
    for (size_t i = 0; i < count; i++)
        features[i] = (float)points->data[i] / 7 - 10;
    free(points->data);
    points->data = (uint8_t *)features;
    bool good = km_real_center(points, NULL, 1, comm, &problem);
    harness_assert(good, "%s", problem.text);
}

/* Makes points near GROUPS corners. If SPREAD is 1, all points of a group are equal. */
static void make_points(km_points *points, uint64_t total, unsigned groups, unsigned spread,
                        bool real, MPI_Comm comm) {
    *points = km_points_share(total, DIM, comm);
    points->data = malloc(points->rows * DIM + 1);
    ck_assert_ptr_nonnull(points->data);
    for (size_t i = 0; i < points->rows * DIM; i++) {
        uint64_t row = points->first + i / DIM, group = row % groups;
        points->data[i] = (uint8_t)((group >> i % DIM & 1) * 240 +
                                    km_random_below(5, row / groups, i % DIM, spread));
    }
    if (real)
        make_real(points, comm);
}

/* Computes the centroids of METHOD, on rank 0 of COMM. */
static bool choose(const km_points *points, const char *method, size_t k, int threads,
                   uint8_t *centroids, MPI_Comm comm, app_problem *problem) {
    km_init start;
    km_seeding seeding = {.points = points,
                          .k = k,
                          .start = &start,
                          .seed = SEED,
                          .threads = threads,
                          .kernel = km_kernel_best(NULL, 0),
                          .comm = comm};
    return km_init_parse(method, &start, problem) && km_init_choose(&seeding, centroids, problem);
}

/* Returns whether feature I is that of a corner away from 0. */
static bool is_far(const km_points *points, const uint8_t *centroids, size_t i) {
    if (!points->real.used)
        return centroids[i] >= 240;
    return km_real_feature(&points->real, i % DIM, ((const float *)centroids)[i]) > 10;
}

/* Returns how many of the corners have a centroid. */
static unsigned count_groups(const km_points *points, const uint8_t *centroids, size_t k) {
    bool seen[1 << DIM] = {false};
    unsigned count = 0;
    for (size_t j = 0; j < k; j++) {
        unsigned group = 0;
        for (unsigned i = 0; i < DIM; i++)
            group |= (is_far(points, centroids, j * DIM + i) ? 1U : 0U) << i;
        count += !seen[group];
        seen[group] = true;
    }
    return count;
}

static const struct trial {
    uint64_t total;
    unsigned groups, spread;
    size_t k;
} trials[] = {
    {900, 16, 4, 16}, {333, 64, 1, 64}, {1000, 5, 9, 40}, {50, 4, 1, 9},
    {40, 40, 3, 40},  {1, 1, 1, 1},     {3, 2, 5, 2},
};
enum { TRIALS = sizeof trials / sizeof *trials };

/* Runs each trial with bytes, then with real features if there is a kernel for these. */
START_TEST(same_for_any_ranks) {
    const struct trial *trial = &trials[_i % TRIALS];
    const bool real = _i >= TRIALS;
    size_t bytes = trial->k * DIM * (real ? sizeof(float) : 1);
    uint8_t *ours = malloc(bytes), *alone = malloc(bytes);
    int rank;
    km_points spread, whole;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make_points(&spread, trial->total, trial->groups, trial->spread, real, MPI_COMM_WORLD);
    make_points(&whole, trial->total, trial->groups, trial->spread, real, MPI_COMM_SELF);
    for (int i = 0; i < METHODS; i++) {
        app_problem problem = {""};
        bool good = choose(&spread, methods[i], trial->k, 2, ours, MPI_COMM_WORLD, &problem) &&
                    choose(&whole, methods[i], trial->k, 1, alone, MPI_COMM_SELF, &problem);
        harness_assert(good, "%s: %s", methods[i], problem.text);
        good = rank > 0 || memcmp(ours, alone, bytes) == 0;
        harness_assert(good, "%s: depends on the ranks", methods[i]);
    }
    km_real_free(&whole.real);
    km_real_free(&spread.real);
    free(whole.data);
    free(spread.data);
    free(alone);
    free(ours);
}
END_TEST

/*
 * The next centroid is in a group that has none, because points of other groups are near their
 * centroids.
 */
START_TEST(every_group_has_one) {
    static const char *const careful[] = {"k-means++", "k-means||", "afk-mc2"};
    enum { GROUPS = 16, TOTAL = 800 };
    int rank;
    const bool real = _i;
    uint8_t centroids[GROUPS * DIM * sizeof(float)];
    km_points points;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make_points(&points, TOTAL, GROUPS, 3, real, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        app_problem problem = {""};
        bool good = choose(&points, careful[i], GROUPS, 1, centroids, MPI_COMM_WORLD, &problem);
        harness_assert(good, "%s: %s", careful[i], problem.text);
        good = rank > 0 || count_groups(&points, centroids, GROUPS) == GROUPS;
        harness_assert(good, "%s leaves a group out", careful[i]);
    }
    km_real_free(&points.real);
    free(points.data);
}
END_TEST

/* Every place in the sequence of weights belongs to its row. Rows of weight 0 have none. */
START_TEST(draws_are_exact) {
    enum { TOTAL = 57 };
    uint64_t length = 0, at = 0;
    uint64_t places[TOTAL * 5], rows[TOTAL * 5], *weights;
    km_points points;
    app_problem problem = {""};
    make_points(&points, TOTAL, 3, 1, false, MPI_COMM_WORLD);
    weights = calloc(points.rows + 1, sizeof *weights);
    for (size_t i = 0; i < points.rows; i++)
        weights[i] = (points.first + i) * 7 % 5;
    bool good = km_draw_total(&points, weights, &length, MPI_COMM_WORLD, &problem);
    harness_assert(good && length < TOTAL * 5, "%s", problem.text);
    for (uint64_t i = 0; i < length; i++)
        places[i] = i;
    good = km_draw_rows(&points, weights, places, length, rows, MPI_COMM_WORLD, &problem);
    harness_assert(good, "%s", problem.text);
    for (uint64_t row = 0; row < TOTAL; row++)
        for (uint64_t i = 0; i < row * 7 % 5; i++)
            good = good && rows[at++] == row;
    harness_assert(good && at == length, "each place has its row");
    free(weights);
    km_real_free(&points.real);
    free(points.data);
}
END_TEST

START_TEST(random_numbers_are_even) {
    enum { BELOW = 7, DRAWS = 70000 };
    int counts[BELOW] = {0};
    for (uint64_t i = 0; i < DRAWS; i++)
        counts[km_random_below(1, 2, i, BELOW)]++;
    for (int i = 0; i < BELOW;
         i++) /* each is drawn about 10,000 times, within five standard deviations */
        ck_assert(abs(counts[i] - DRAWS / BELOW) < 470);
    ck_assert(km_random_below(1, 2, 3, 1) == 0);
    ck_assert(km_random(1, 2, 3) != km_random(1, 3, 2) && km_random(1, 2, 3) != km_random(2, 1, 3));
}
END_TEST

/* Two datasets of one file have different names, which tell checkpoints apart. */
START_TEST(datasets_have_names) {
    static const char *const paths[] = {"/proc/self/exe:/a", "/proc/self/exe:/b", "/proc/self/exe"};
    char names[3][KM_INIT_NAME_SIZE];
    app_problem problem = {""};
    for (int i = 0; i < 3; i++) {
        bool good =
            km_init_name(&(km_init){.method = &km_init_file, .path = paths[i]}, names[i], &problem);
        harness_assert(good, "%s", problem.text);
    }
    harness_assert(strcmp(names[0], names[1]) && strcmp(names[0], names[2]), "%s, %s, %s", names[0],
                   names[1], names[2]);
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("kmeans_init");
    TCase *cases = tcase_create("kmeans_init");
    tcase_add_loop_test(cases, same_for_any_ranks, 0, 2 * TRIALS);
    tcase_add_loop_test(cases, every_group_has_one, 0, 2);
    tcase_add_test(cases, draws_are_exact);
    tcase_add_test(cases, random_numbers_are_even);
    tcase_add_test(cases, datasets_have_names);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 5", suite);
}
